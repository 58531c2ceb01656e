import MillpondCore
import MillpondEntities
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Random transactions of four threads, beside a plain model that carries them out one by one.
@Suite(.heavy) struct EntityModelTests {
  @Test(arguments: 0..<12)
  func `every observer's history is that of the model`(seed: Int) async {
    let run = EntityModelRun(seed: UInt64(seed))

    await run.finish()

    let histories = EntityModel.histories(of: run.log, ids: EntityModelRun.ids)
    for (id, recorder) in run.lasting {
      #expect(recorder.notices == histories[id], "observer of \(id)")
      #expect(recorder.violations.isEmpty)
    }
    for (id, recorder) in run.passing {
      let history = histories[id] ?? []
      #expect(history.contains(part: recorder.notices), "passing observer of \(id)")
    }
    #expect(run.log.count > 100)
  }
}

/// A notice to an observer: the value, and the causes of the change.
struct EntityNotice: Equatable, Sendable {
  let value: Thing?
  let causes: Set<Int>
}

enum EntityStep: Sendable {
  case set(Thing)
  case remove(Int)
}

/// The plain way: dictionaries, and a search for each observer and commit.
enum EntityModel {
  static func histories(of log: [[EntityStep]], ids: Range<Int>) -> [Int: [EntityNotice]] {
    var things: [Int: Thing] = [:]
    var histories = Dictionary(
      uniqueKeysWithValues: ids.map { ($0, [EntityNotice(value: nil, causes: [])]) })
    for steps in log {
      let before = things
      for step in steps {
        switch step {
        case .set(let thing): things[thing.id] = thing
        case .remove(let id): things[id] = nil
        }
      }
      let changed = Set(ids.filter { before[$0] != things[$0] })
      for id in ids {
        let causes = reachable(from: id, things).intersection(changed)
        if causes.isEmpty { continue }
        histories[id]?.append(EntityNotice(value: things[id], causes: causes))
      }
    }
    return histories
  }

  private static func reachable(from id: Int, _ things: [Int: Thing]) -> Set<Int> {
    var found: Set<Int> = [id]
    var waiting = [id]
    while let id = waiting.popLast() {
      for link in things[id]?.links ?? [] where found.insert(link.id).inserted {
        waiting.append(link.id)
      }
    }
    return found
  }
}

extension Recorder<EntityChange<Thing>> {
  var notices: [EntityNotice] {
    values.map { change in
      EntityNotice(
        value: change.value,
        causes: Set(change.causes.compactMap { $0.reference(to: Thing.self)?.id }))
    }
  }
}

extension [EntityNotice] {
  /// Returns whether `part` begins with a state of some time, and goes on with all that followed.
  func contains(part: [EntityNotice]) -> Bool {
    guard let first = part.first else { return true }
    return indices.contains { start in
      self[start].value == first.value && first.causes.isEmpty
        && dropFirst(start + 1).starts(with: part.dropFirst())
    }
  }
}
