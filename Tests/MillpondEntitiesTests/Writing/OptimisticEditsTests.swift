import MillpondCore
import MillpondSignals
import MillpondTesting
import Synchronization
import Testing

@testable import MillpondEntities

/// Optimistic writes of parts and of single fields, whose outcomes leave those of others alone.
@Suite struct OptimisticEditsTests {
  let store = EntityStore()
  let rename = PublishSubject<Void>()
  let change = PublishSubject<Void>()
  private let reference = Reference<Pet>("p")

  private var pet: String? {
    store.get(reference).map { "\($0.name ?? "–") \($0.species ?? "–")" }
  }

  private func beginBoth() {
    store.set(Pet(name: "Noushka", species: "Cat"))
    store.set(Pet(name: "Medor"), confirmedBy: rename.signal)
    store.set(Pet(species: "Dog"), confirmedBy: change.signal)
    #expect(pet == "Medor Dog")
  }

  // MARK: Parts

  @Test(arguments: [true, false])
  func `a refused part goes, whether a later one is confirmed before or after`(isBefore: Bool) {
    beginBoth()

    if isBefore { change.completed() }
    #expect(pet == "Medor Dog")
    rename.failed(Refusal())
    #expect(pet == "Noushka Dog")
    change.completed()

    #expect(pet == "Noushka Dog")
    #expect(store.hasNoLayers)
  }

  @Test func `a part confirmed before an earlier one is in copies of the store at once`() {
    beginBoth()
    let copy = Recorder<[TableEdit<Pet>]>().subscribe(to: store.edits(of: Pet.self))

    change.completed()
    rename.completed()

    #expect(copy.values.joined().map { $0.value?.name } == ["Noushka", "Noushka", "Medor"])
    #expect(copy.values.joined().map { $0.value?.species } == ["Cat", "Dog", "Dog"])
  }

  @Test(arguments: [true, false])
  func `a newer value from a source is seen beside the edit, and stays after it`(
    isConfirmed: Bool
  ) {
    beginBoth()
    change.completed()

    store.core.fill(Pet(name: "Minka", species: "Parrot"), FillToken())
    #expect(pet == "Medor Parrot")
    if isConfirmed { rename.completed() } else { rename.failed(Refusal()) }

    #expect(pet == (isConfirmed ? "Medor Parrot" : "Minka Parrot"))
    #expect(store.hasNoLayers)
  }

  @Test func `an ordinary set of a part keeps its own part only`() {
    store.set(Pet(name: "Noushka", species: "Cat"))
    store.set(Pet(name: "Medor"), confirmedBy: rename.signal)

    store.set(Pet(species: "Parrot"))
    rename.failed(Refusal())

    #expect(pet == "Noushka Parrot")
    #expect(store.hasNoLayers)
  }

  @Test func `an ordinary set after a removal that waits stays, through an answer as well`() {
    store.set(Pet(name: "Noushka", species: "Cat"))
    store.remove(reference, confirmedBy: rename.signal)
    store.set(Pet(species: "Parrot"))
    #expect(pet == "– Parrot")

    store.core.fill(Pet(name: "Minka", species: "Cat"), FillToken())
    #expect(pet == "– Parrot")
    rename.completed()

    #expect(pet == "– Parrot")
    #expect(store.hasNoLayers)
  }

  @Test func `a write through a cache that arrives late lies at its place`() {
    store.set(Pet(name: "Noushka", species: "Cat"))
    store.set(Pet(name: "Medor"), confirmedBy: rename.signal)
    let revision = Revision.next()
    store.set(Pet(species: "Dog"), confirmedBy: change.signal)

    let parrot = Pet(name: "Minka", species: "Parrot")
    store.core.arrive(parrot.reference, revision, .set(parrot))
    #expect(pet == "Minka Dog")
    change.failed(Refusal())
    #expect(pet == "Minka Parrot")
    rename.failed(Refusal())

    #expect(pet == "Minka Parrot")
    #expect(store.hasNoLayers)
  }

  // MARK: Edits of whole entities

  @Test(arguments: [true, false])
  func `an edit of a field takes back its own field only`(isConfirmed: Bool) {
    let thing = Reference<Thing>(1)
    store.set(Thing(1, "old", links: [2]))
    store.edit(thing, confirmedBy: rename.signal) { $0.name = "new" }
    store.edit(thing, confirmedBy: change.signal) { $0.links = [Reference(3)] }
    store.core.fill(Thing(1, "fetched", links: [2], owner: "p"), FillToken())
    #expect(store.get(thing) == Thing(1, "new", links: [3], owner: "p"))

    change.completed()
    if isConfirmed { rename.completed() } else { rename.failed(Refusal()) }

    let name = isConfirmed ? "new" : "fetched"
    #expect(store.get(thing) == Thing(1, name, links: [3], owner: "p"))
    #expect(store.isSettled)
  }

  @Test func `an edit of an absent entity waits for one`() {
    let thing = Reference<Thing>(1)
    let outcome = Recorder<Void>().subscribe(
      to: store.edit(thing, confirmedBy: rename.signal) { $0.name = "new" })
    #expect(store.count == 0)
    store.core.fill(Thing(1, "fetched"), FillToken())
    #expect(store.get(thing)?.name == "new")

    rename.completed()

    #expect(store.get(thing)?.name == "new")
    #expect(outcome.isCompleted)
    #expect(store.isSettled)
  }

  // MARK: Random programs and cost

  @Test(arguments: 0..<40)
  func `at any time the store has what the writes that were not refused make in their order`(
    seed: Int
  ) {
    var random = SeededGenerator(seed: UInt64(seed))
    var writes: [(part: Pet?, isRefused: Bool)] = []
    var requests: [(number: Int, request: PublishSubject<Void>)] = []
    var faults = 0
    for round in 0..<120 {
      let part =
        Int.random(in: 0..<8, using: &random) == 0
        ? nil
        : Pet(
          name: Bool.random(using: &random) ? "\(round)" : nil,
          species: Bool.random(using: &random) ? "\(round)" : nil)
      switch Int.random(in: 0..<5, using: &random) {
      case 0:
        writes.append((part, false))
        if let part { store.set(part) } else { store.remove(reference) }
      case 1...2:
        let request = PublishSubject<Void>()
        requests.append((writes.count, request))
        writes.append((part, false))
        if let part {
          store.set(part, confirmedBy: request.signal)
        } else {
          store.remove(reference, confirmedBy: request.signal)
        }
      default:
        guard let place = requests.indices.randomElement(using: &random) else { continue }
        let (number, request) = requests.remove(at: place)
        if Bool.random(using: &random) {
          request.completed()
        } else {
          request.failed(Refusal())
          writes[number].isRefused = true
        }
      }
      let expected = writes.reduce(Pet?.none) { value, write in
        if write.isRefused { return value }
        return write.part.map { part in value.map { part.replacing($0) } ?? part }
      }
      if store.get(reference) != expected { faults += 1 }
    }

    #expect(faults == 0)
  }

  @Test func `writes that wait are merged once each, and confirmed in order without merging`() {
    let count = 300
    let merges = Merges()
    store.set(Volume(id: 1, level: 0, merges: merges))
    let requests = (0..<count).map { _ in PublishSubject<Void>() }

    for (level, request) in requests.enumerated() {
      store.set(Volume(id: 1, level: level, merges: merges), confirmedBy: request.signal)
    }
    #expect(merges.count.load(ordering: .relaxed) == count)
    for request in requests.dropLast() { request.completed() }
    let before = merges.count.load(ordering: .relaxed)
    requests.last?.failed(Refusal())

    #expect(before == count)
    #expect(store.get(Reference<Volume>(1))?.level == count - 2)
  }
}

/// A pet that may be known in part.
private struct Pet: Mergeable {
  var id = "p"
  var name: String?
  var species: String?

  func merged(with newer: Pet) -> Pet {
    Pet(name: newer.name ?? name, species: newer.species ?? species)
  }
}

private final class Merges: Sendable {
  let count = Atomic(0)
}

/// A level that counts how often it is merged.
private struct Volume: Mergeable {
  let id: Int
  var level: Int
  let merges: Merges

  func merged(with newer: Volume) -> Volume {
    merges.count.add(1, ordering: .relaxed)
    return newer
  }

  static func == (left: Volume, right: Volume) -> Bool {
    left.level == right.level
  }
}

extension EntityStore {
  /// Whether nothing of optimistic writes of pets is left.
  fileprivate var hasNoLayers: Bool {
    core.tables.withLock { tables in
      let table = tables.table(Pet.self)
      return table.optimistic.isEmpty && table.optimisticWrites.isEmpty
    }
  }
}
