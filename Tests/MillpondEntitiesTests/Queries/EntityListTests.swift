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
  func `a reset leads to the same list as each edit alone`(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    func name() -> String {
      ["", "a", "bb", "ccc", "no"].randomElement(using: &random) ?? ""
    }
    let count = Int.random(in: 1...60, using: &random)
    var many = list((0..<count).map { ($0, name()) } + [(-1, "a")])
    var single = many
    for _ in 0..<5 {
      let ids = (0..<count + 10).shuffled(using: &random).prefix(
        Int.random(in: 0...80, using: &random))
      let edits = ids.map { id in
        TableEdit(id: id, value: Bool.random(using: &random) ? Thing(id, name()) : nil)
      }

      let changes = many.reset(edits)

      let steps = edits.flatMap { single.apply([$0]) }
      #expect(changes == (steps.isEmpty ? [] : [.reset(single.values)]))
      #expect(many.values == single.values)
      #expect(many.list.map(\.arrival) == single.list.map(\.arrival))
      #expect(many.members.mapValues { $0.arrival } == single.members.mapValues { $0.arrival })
    }
  }

  @Test(arguments: [128, 129])
  func `up to 128 edits are sent one by one, and more as a reset`(count: Int) {
    var list = list([(-1, "name")])
    var shown = list.values
    let edits = (0..<count).map { TableEdit(id: $0, value: Thing($0, $0 % 3 == 0 ? "no" : "a")) }

    let changes = list.apply(edits)

    for change in changes { shown.apply(change) }
    #expect(shown == list.values && shown.count == 1 + count - (count + 2) / 3)
    #expect(changes.count == (count > 128 ? 1 : shown.count - 1))
  }
}
