import MillpondTesting
import Testing

@testable import MillpondEntities

@Suite struct EntityListTests {
  /// Returns a list by the length of names: many are of equal rank.
  private func list(_ names: [(Int, String)] = []) -> EntityList<Thing> {
    var list = EntityList<Thing>(
      isIncluded: { $0.name != "no" }, precedes: { $0.name.count < $1.name.count })
    _ = list.apply(names.map { TableEdit(id: $0.0, value: Thing($0.0, $0.1)) })
    return list
  }

  @Test(arguments: 0..<30)
  func `many edits make the same steps as each alone`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    func name() -> String {
      ["", "a", "bb", "ccc", "no"].randomElement(using: &random) ?? ""
    }
    let count = Int.random(in: 1...60, using: &random)
    var many = list((0..<count).map { ($0, name()) } + [(-1, "a")])
    var single = many
    for _ in 0..<5 {
      let edits = (0..<Int.random(in: 0...80, using: &random)).map { _ in
        let id = Int.random(in: 0..<count + 10, using: &random)
        return TableEdit(id: id, value: Bool.random(using: &random) ? Thing(id, name()) : nil)
      }

      let changes = many.applyMany(edits)

      #expect(changes == edits.flatMap { single.apply([$0]) })
      #expect(many.values == single.values)
      #expect(many.arrivals == single.arrivals)
      #expect(many.members.mapValues(\.arrival) == single.members.mapValues(\.arrival))
    }
  }

  @Test func `the steps of a large commit lead from one list to the next`() {
    let count = 1_000
    var list = list((0..<count).map { ($0, "name") })
    var shown = list.values
    let edits = (0..<2 * count).map { id in
      TableEdit(id: id, value: id % 3 == 0 ? nil : Thing(id, String(repeating: "a", count: id % 7)))
    }

    for change in list.apply(edits) { shown.apply(change) }

    #expect(shown == list.values)
    #expect(shown.map(\.name.count) == shown.map(\.name.count).sorted())
  }
}

extension [Thing] {
  fileprivate mutating func apply(_ change: EntityListChange<Thing>) {
    switch change {
    case .insert(let thing, let place): insert(thing, at: place)
    case .remove(let place): remove(at: place)
    case .move(let thing, let from, let to):
      remove(at: from)
      insert(thing, at: to)
    case .update(let thing, let place): self[place] = thing
    }
  }
}
