import MillpondSignals
import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct WriteOrderTests {
  /// A key with a constant hash.
  struct Colliding: Hashable {
    let number: Int

    func hash(into hasher: inout Hasher) {}
  }

  // MARK: Writes

  @Test func `a later write of a key wins over an earlier one that arrives after it`() {
    let order = OrderScene<String>()
    let (first, second) = (Revision.next(), Revision.next())

    #expect(order.admit("a", second))
    #expect(!order.admit("a", first))
    #expect(order.admit("b", first))
    #expect(order.admit("a", second))
  }

  @Test func `a write is refused for no other key's sake, whatever their hashes`() {
    let order = OrderScene<Colliding>()
    let first = Revision.next()
    for number in 1...100 { #expect(order.admit(Colliding(number: number), .next())) }

    #expect(order.admit(Colliding(number: 0), first))
    #expect(!order.admit(Colliding(number: 7), first))
  }

  @Test(arguments: [10, 1_100, 2_001, 10_000])
  func `a write on its way is neither lost nor wins, however many others overtake it`(count: Int) {
    let order = OrderScene<Int>()
    let (first, second) = (Revision.next(), Revision.next())
    let pending = [first, second].map { PendingWrite($0) }
    #expect(order.admit(-1, .next()))
    for key in 0..<count { #expect(order.admit(key, .next())) }

    #expect(!order.admit(-1, first))
    #expect(order.admit(-2, second))
    for write in pending { write.end() }
  }

  @Test func `writes before all pending ones are forgotten, except the newest`() {
    let order = OrderScene<Int>()
    let pending = PendingWrite(.next())
    for key in 0..<5_120 { #expect(order.admit(key, .next())) }
    #expect(order.rememberedCount == 5_120)
    let oldest = Revision.next()
    for key in 5_120..<10_000 { #expect(order.admit(key, .next())) }

    for _ in 0..<5 { order.prune(before: oldest) }
    #expect(order.rememberedCount == 4_880)
    for _ in 0..<5 { order.prune(before: .last) }

    #expect(1_024..<2_048 ~= order.rememberedCount)
    #expect((8_976..<10_000).allSatisfy { order.isRemembered($0) })
    pending.end()
  }

  @Test func `no write forgets more than two generations, however many have become needless`() {
    let order = OrderScene<Int>()
    let pending = PendingWrite(.next())
    for key in 0..<20_480 { order.remember(key, .next()) }
    order.forget()

    order.prune(before: .last)

    #expect(order.rememberedCount == 20_480 - 2 * 1_024)
    #expect(order.order.forgotten.map(\.count) == [1_024, 1_024])
    pending.end()
  }

  @Test func `the keys of a removal by predicate are remembered while an earlier write is pending`()
  {
    let order = OrderScene<Int>()
    let (earlier, removal) = (Revision.next(), Revision.next())
    let pending = PendingWrite(earlier)
    for key in 0..<3_072 { order.remember(key, removal) }
    for key in 3_072..<3_082 { order.remember(key, .next()) }
    let token = FillToken()

    for _ in 0..<3 { order.prune(before: earlier) }
    #expect(order.rememberedCount == 3_082)
    for _ in 0..<3 { order.prune(before: .last) }

    #expect(order.rememberedCount == 1_034)
    #expect((2_048..<3_082).allSatisfy { order.isRemembered($0) })
    #expect(order.admit(token, for: 5))
    #expect(order.admit(FillToken(), for: 5))
    pending.end()
  }

  @Test func `fills that are older than a removal by predicate are refused after it is forgotten`()
  {
    let order = OrderScene<Int>()
    let token = FillToken()
    let removal = Revision.next()
    for key in 0..<3_072 { order.remember(key, removal) }

    for _ in 0..<3 { order.prune(before: .last) }

    #expect(order.rememberedCount == 1_024)
    #expect((0..<2_048).allSatisfy { !order.admit(token, for: $0) })
    #expect((0..<2_048).allSatisfy { order.admit(FillToken(), for: $0) })
  }

  @Test func `memory is bounded also where a write never ends, and then none is lost`() {
    let order = OrderScene<Int>()
    let first = Revision.next()
    let pending = PendingWrite(first)
    var greatest = 0
    for key in 0..<300_000 {
      order.remember(key, .next())
      greatest = max(greatest, order.order.forgotten.reduce(0) { $0 + $1.count })
      order.forget()
    }

    #expect(order.rememberedCount <= 262_144)
    #expect(greatest == 1_024)
    #expect(order.admit(0, first))
    #expect(!order.admit(299_999, first))
    pending.end()
  }

  @Test func `a removal of everything forgets what was written before, and not what came later`() {
    let order = OrderScene<Int>()
    let pending = PendingWrite(.next())
    for key in 0..<3_000 { order.remember(key, .next()) }
    let all = Revision.next()
    let between = Revision.next()
    order.remember(3_000, .next())

    #expect(order.admitAll(all))

    #expect(order.rememberedCount == 3_001 - 2_048)
    #expect(!order.admit(3_000, between) && order.admit(2_000, between))
    #expect(order.admitAll(.next()))
    #expect(order.rememberedCount == 0)
    pending.end()
  }

  @Test func `a removal of everything wins over what was written before, and over nothing else`() {
    let order = OrderScene<Int>()
    let (first, all, last) = (Revision.next(), Revision.next(), Revision.next())
    #expect(order.admit(1, last))

    #expect(order.admitAll(all))
    #expect(!order.admit(2, first))
    #expect(order.admit(2, last))
    #expect(!order.admit(1, all))
    #expect(!order.admitAll(first))
  }

  // MARK: Fills

  @Test func `a fill is refused if a write of its key arrived after its token was drawn`() {
    let order = OrderScene<Int>()
    let early = FillToken()
    #expect(order.admit(early, for: 1))

    #expect(order.admit(1, .next()))
    #expect(!order.admit(early, for: 1))
    #expect(order.admit(FillToken(), for: 1))
    #expect(order.admit(.any, for: 1))

    let beforeAll = FillToken()
    #expect(order.admitAll(.next()))
    #expect(!order.admit(beforeAll, for: 2))
    #expect(order.admit(FillToken(), for: 2))
  }

  @Test func `a fill is refused also if the write was called long before and arrives after`() {
    let order = OrderScene<Int>()
    let slow = Revision.next()
    let token = FillToken()

    #expect(order.admit(1, slow))

    #expect(!order.admit(token, for: 1))
  }

  @Test(arguments: [false, true])
  func `a write that a later one has overtaken refuses no fill`(isOfAll: Bool) {
    var order = WriteOrder<Int>()
    let (earlier, later) = (Revision.next(), Revision.next())
    if isOfAll { _ = order.admitAll(later) } else { _ = order.admit(1, later) }
    let token = FillToken()

    let isAdmitted = isOfAll ? order.admitAll(earlier) : order.admit(1, earlier)

    let isFilled = order.admit(token, for: 1)
    #expect(!isAdmitted && isFilled)
  }

  @Test(arguments: HashedKeyTests.Hashes.allCases)
  func `few fills are refused for other keys' writes, whichever bits of the hashes differ`(
    hashes: HashedKeyTests.Hashes
  ) {
    let order = OrderScene<HashedKeyTests.Key>()
    let token = FillToken()
    for number in 0..<100 { #expect(order.admit(hashes.key(number), .next())) }

    let admitted = (100..<1_100).filter { order.admit(token, for: hashes.key($0)) }

    #expect(admitted.count > 800)
  }

  @Test func `a fill is refused when the run that asked is over`() {
    let order = OrderScene<Int>()
    let lifetime = Lifetime()
    let token = FillToken(during: lifetime)
    #expect(order.admit(token, for: 1))
    let accepted = token.accepted

    lifetime.end()

    #expect(!order.admit(token, for: 1))
    #expect(!order.admit(token.accepted, for: 1))
    #expect(order.admit(accepted, for: 1))
  }

  @Test
  func `after a reload's fill answers to older questions come too late, and newer ones don't`() {
    let order = OrderScene<Int>()
    let (older, reload, newer) = (FillToken(), FillToken(isReload: true), FillToken())

    #expect(order.admit(reload, for: 1))

    #expect(!order.admit(older, for: 1))
    #expect(order.admit(reload, for: 1))
    #expect(order.admit(newer, for: 1))
  }

  // MARK: Fills of stores that know the last writes of their entries

  @Test
  func `a fill is refused because of the last write of its key, however the store states that`() {
    let order = OrderScene<Int>()
    let (token, written) = (FillToken(), Revision.next())

    #expect(!order.admit(token, for: 1, over: written))
    #expect(order.admit(token, for: 1, over: .none))
    #expect(order.admit(FillToken(), for: 1, over: written))
    order.remember(1, written)
    #expect(!order.admit(token, for: 1, over: .none))
    #expect(order.admitAll(.next()))
    #expect(!order.admit(token, for: 2, over: .none))
  }

  @Test func `a fill of such a store is refused for no other key that is remembered`() {
    let order = OrderScene<Int>()
    let token = FillToken()
    for key in 1...1_500 { order.remember(key, .next()) }

    #expect(order.admit(token, for: 0, over: .none))
    #expect((1...1_500).allSatisfy { !order.admit(token, for: $0, over: .none) })
  }

  @Test func `a fill is refused for a write that is forgotten since`() {
    let order = OrderScene<Int>()
    let token = FillToken()
    for key in 0..<10_000 { order.remember(key, .next()) }
    for _ in 0..<5 { order.prune(before: .last) }
    let count = order.rememberedCount
    order.forget(10_000, .next())

    #expect(1_024..<2_048 ~= count)
    #expect((0...10_000).allSatisfy { !order.admit(token, for: $0, over: .none) })
    #expect(order.admit(FillToken(), for: 1, over: .none))
  }

  @Test func `a last write is not forgotten while an earlier one is on its way`() {
    let order = OrderScene<Int>()
    let first = Revision.next()
    let pending = PendingWrite(first)
    order.forget(1, .next())
    pending.end()

    #expect(!order.admit(1, first))
    #expect(order.admit(2, first))
  }
}

/// An order, with short ways to query it.
private final class OrderScene<Key: Hashable & Sendable> {
  private(set) var order = WriteOrder<Key>()

  /// The number of remembered writes.
  var rememberedCount: Int {
    let remembered = order.remembered
    return remembered.older.reduce(remembered.latest.writes.count) { $0 + $1.writes.count }
  }

  func isRemembered(_ key: Key) -> Bool {
    order.remembered.last(of: key) != .none
  }

  func admit(_ key: Key, _ revision: Revision) -> Bool {
    order.admit(key, revision)
  }

  func admitAll(_ revision: Revision) -> Bool {
    order.admitAll(revision)
  }

  func admit(_ token: FillToken, for key: Key) -> Bool {
    order.admit(token, for: key)
  }

  func admit(_ token: FillToken, for key: Key, over present: Revision) -> Bool {
    order.admit(token, for: key, over: present)
  }

  func remember(_ key: Key, _ revision: Revision) {
    order.remember(key, revision)
  }

  func forget(_ key: Key, _ revision: Revision) {
    order.forget(key, revision)
  }

  func prune(before oldest: Revision) {
    order.prune(before: oldest)
  }

  func forget() {
    _ = order.takeForgotten()
  }
}
