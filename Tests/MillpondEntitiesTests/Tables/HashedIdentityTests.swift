import MillpondCore
import MillpondSignals
import Testing

@testable import MillpondEntities

/// Entities whose identities state a hash of their own are found as quickly as others.
@Suite struct HashedIdentityTests {
  /// An identity with a hash of its own, as that of an object may have.
  struct Identity: Hashable, Sendable {
    let number: Int
    let stated: Int

    var hashValue: Int { stated }

    func hash(into hasher: inout Hasher) {
      hasher.combine(stated)
    }
  }

  struct Item: Entity {
    let id: Identity
    var name = ""
  }

  enum Hashes: CaseIterable {
    case small, multiples, highBits, highestBits, swapped

    func identity(_ number: Int) -> Identity {
      switch self {
      case .small: Identity(number: number, stated: number)
      case .multiples: Identity(number: number, stated: number &* 4_096)
      case .highBits: Identity(number: number, stated: number << 32)
      case .highestBits: Identity(number: number, stated: number << 47)
      case .swapped: Identity(number: number, stated: number.byteSwapped)
      }
    }
  }

  let store = EntityStore()

  @Test(arguments: Hashes.allCases)
  func `every table of the index has its share, whichever bits of the hashes differ`(
    hashes: Hashes
  ) {
    store.update { items in
      for number in 0..<5_000 { items.set(Item(id: hashes.identity(number))) }
    }

    let hashCount = store.core.tables.withLock { tables in
      let table = tables.table(Item.self)
      return Set((0..<5_000).map { table.hash(hashes.identity($0)) }).count
    }
    let lowBits = store.core.tables.withLock { tables in
      let table = tables.table(Item.self)
      return Set((0..<5_000).map { table.hash(hashes.identity($0)) & 0xFFF }).count
    }
    #expect(hashCount > 4_980)
    #expect(lowBits > 1_000)
    #expect((0..<5_000).allSatisfy { store.get(Reference<Item>(hashes.identity($0))) != nil })
  }

  @Test func `a thousand entities whose identities have one hash are kept, and removed`() {
    for number in 0..<1_000 { store.set(Item(id: Identity(number: number, stated: 1))) }
    for number in 0..<500 { store.remove(Reference<Item>(Identity(number: number, stated: 1))) }

    #expect(store.count == 500)
    #expect(
      (500..<1_000).allSatisfy {
        store.get(Reference<Item>(Identity(number: $0, stated: 1)))?.id.number == $0
      })
  }

  /// An identity whose comparisons are counted, as if they were slow.
  struct SlowItem: Entity {
    struct ID: Hashable, Sendable {
      let number: Int
      let comparisons: Locked<Int>

      static func == (one: ID, other: ID) -> Bool {
        one.comparisons.withLock { $0 += 1 }
        return one.number == other.number
      }

      func hash(into hasher: inout Hasher) {
        hasher.combine(number)
      }
    }

    let id: ID

    static func == (one: SlowItem, other: SlowItem) -> Bool { one.id.number == other.id.number }
  }

  @Test func `an entity that is read is compared with no other one`() {
    let comparisons = Locked(0)
    let ids = (0..<1_000).map { SlowItem.ID(number: $0, comparisons: comparisons) }
    for id in ids { store.set(SlowItem(id: id)) }
    let former = comparisons.withLock { $0 }

    for id in ids { _ = store.get(Reference<SlowItem>(id)) }

    #expect(comparisons.withLock { $0 } - former < 1_010)
  }
}
