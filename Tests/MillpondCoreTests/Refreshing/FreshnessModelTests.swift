import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

/// Random programs on a multiplexer with a manual clock, checked against the documentation.
@Suite struct FreshnessModelTests {
  @Test(arguments: 0..<UInt64(Effort.rounds(20, few: 6)))
  func `whatever is done in whatever order, each promise of freshness is kept`(block: UInt64) {
    for seed in block * 15..<(block + 1) * 15 {
      let model = FreshnessModel(seed: seed)
      model.run(steps: 60)
      #expect(model.troubles == [], "seed \(seed): \(model.policyText)")
    }
  }
}

/// A multiplexer, the operations on it, and a plain record of its permitted answers.
///
/// Sendable because one thread does everything.
private final class FreshnessModel: @unchecked Sendable {
  private(set) var troubles: [String] = []
  let policyText: String

  private let clock = ManualClock()
  private var generator: SeededGenerator
  private let terms: Terms
  private lazy var users = makeUsers()

  /// The number of things that have happened, for their order.
  private var step = 0
  private var values: [Origin] = []
  private var fetches: [Fetch] = []
  private var gets: [Get] = []
  private var lastWrite: [Int: Int] = [:]
  private var failures: [Int: Duration] = [:]

  /// The last marks of stale values, by key.
  private var marks: [Int: (time: Duration, step: Int)] = [:]
  private var states: [Recorder<ResourceState<Int>>] = []

  struct Terms {
    let freshFor: Duration
    let usableFor: Duration?
    let stale: StaleUse
    let failureLife: Duration
    let refreshAhead: Duration
    let isPersistent: Bool
  }

  /// The origin of a value.
  struct Origin {
    let key: Int
    let bornAt: Duration

    /// The start of its fetch, or the time of its set.
    let asked: Int
    let born: Int
  }

  final class Fetch {
    let key: Int
    let began: Int
    let isReload: Bool
    let source: TestSource<Int>

    /// Whether the key was written to since.
    var isOvertaken = false

    /// Whether a reload began since, which later gets join instead of this.
    var isDisplaced = false

    /// Whether a later get was answered since, or was a reload and failed, so that a failure is too
    /// late to be remembered.
    var isOutdone = false

    init(_ key: Int, _ began: Int, isReload: Bool, _ source: TestSource<Int>) {
      (self.key, self.began, self.isReload, self.source) = (key, began, isReload, source)
    }

    var isActive: Bool { source.activeRuns > 0 }
  }

  final class Get: Sendable {
    let key: Int
    let began: Int
    let beganAt: Duration
    let freshness: Freshness
    let use: StaleUse
    let recorder = Recorder<Int>()

    init(_ key: Int, _ began: Int, at beganAt: Duration, _ freshness: Freshness, _ use: StaleUse) {
      (self.key, self.began, self.beganAt) = (key, began, beganAt)
      (self.freshness, self.use) = (freshness, use)
    }
  }

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    let uses: [StaleUse] = [.never, .onNamedErrors, .onAnyError, .atOnce, .after(.seconds(3))]
    let terms = Terms(
      freshFor: .seconds([0, 5, 20].randomElement(using: &generator) ?? 0),
      usableFor: Bool.random(using: &generator) ? nil : .seconds(40),
      stale: uses.randomElement(using: &generator) ?? .never,
      failureLife: Bool.random(using: &generator) ? .zero : .seconds(7),
      refreshAhead: Int.random(in: 0..<4, using: &generator) == 0 ? .seconds(2) : .zero,
      isPersistent: Bool.random(using: &generator))
    self.terms = terms
    policyText = "\(terms)"
  }

  func run(steps: Int) {
    states = (0..<3).map { Recorder().subscribe(to: users.states(of: $0)) }
    for _ in 0..<steps where troubles.isEmpty { act() }
    for get in gets { get.recorder.dispose() }
    clock.advance(by: .seconds(120))
    if fetches.contains(where: \.isActive) { troubles.append("a fetch goes on for nobody") }
    let last = (0..<10).map { _ in get() }
    for _ in 0..<20 {
      for fetch in fetches where fetch.isActive { answer(fetch) }
      clock.advance(by: .seconds(2))
    }
    if last.contains(where: { $0.recorder.end == nil }) { troubles.append("a get never ends") }
  }
}

// MARK: - What is done

extension FreshnessModel {
  private func makeUsers() -> MultiplexerMap<Int, Int> {
    let life = terms.failureLife
    let policy = FreshnessPolicy(
      freshFor: .after(terms.freshFor), usableFor: terms.usableFor.map { .after($0) } ?? .forever,
      stale: terms.stale, refreshAhead: terms.refreshAhead, refreshDeadline: .seconds(30),
      failureLife: { _ in life })
    let lower = MemoryCache<Int, Int>(countLimit: 100, clock: clock)
    return MultiplexerMap(
      over: ModelOrigin { [unowned self] key, lookup in begin(key, lookup) },
      countLimit: terms.isPersistent ? 2 : 100, freshness: policy,
      persistence: terms.isPersistent ? Persistence(lower) : .none, clock: clock)
  }

  private func act() {
    step += 1
    let key = number(3)
    switch number(18) {
    case 0..<6: _ = get()
    case 6..<10: end(fetches.filter(\.isActive).randomElement(using: &generator))
    case 10..<13: clock.advance(by: .seconds([1, 2, 5, 11, 31][number(5)]))
    case 13: set(key)
    case 14:
      note(key)
      users.remove(key)
      if users.current(key) != nil { troubles.append("\(key) is there after its removal") }
    case 15 where number(4) == 0:
      for key in 0..<3 { note(key) }
      users.removeAll()
    case 15 where number(2) == 0:
      marks[key] = (clock.now.offset, step)
      users.markStale(key)
    case 15:
      for key in 0..<3 { marks[key] = (clock.now.offset, step) }
      users.markAllStale()
    case 16: users.refresh(key)
    default:
      gets.filter { $0.recorder.end == nil }.randomElement(using: &generator)?.recorder.dispose()
    }
    for key in 0..<3 {
      checkFetches(of: key)
      checkState(of: key)
    }
  }

  private func get() -> Get {
    step += 1
    let ages: [Freshness] = [
      .any, .any, .any, .atMost(.seconds(number(12))), .reload, .cachedOnly,
    ]
    let freshness = ages[number(6)]
    let uses: [StaleUse?] = [
      nil, nil, .never, .onNamedErrors, .onAnyError, .atOnce, .after(.seconds(2)),
    ]
    let use = uses[number(7)]
    let get = Get(
      number(3), step, at: clock.now.offset, freshness,
      use ?? (freshness == .any ? terms.stale : .never))
    gets.append(get)
    let count = fetches.count
    let expected = freshValue(for: get)
    get.recorder.subscribe(
      to: users.get(get.key, freshness: freshness, stale: use)
    ) { [unowned self, unowned get] (event: Event<Int>) in
      if case .next(let value) = event { check(value, for: get) }
    }
    check(get, expecting: expected, begun: fetches.count - count)
    return get
  }

  private func set(_ key: Int) {
    note(key)
    let value = newValue(of: key, asked: step)
    users.set(value, for: key)
    if users.current(key) != value { troubles.append("\(key) is not there after its set") }
  }

  /// Begins a fetch.
  private func begin(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    .deferred { [unowned self] in
      step += 1
      let (source, isReload) = (TestSource<Int>(), lookup.freshness == .reload)
      if isReload { for fetch in fetches where fetch.key == key { fetch.isDisplaced = true } }
      fetches.append(Fetch(key, step, isReload: isReload, source))
      return source.signal
    }
  }

  private func end(_ fetch: Fetch?) {
    guard let fetch else { return }
    switch number(7) {
    case 0..<4: answer(fetch)
    case 4, 5:
      if !fetch.isOvertaken, !fetch.isOutdone, terms.failureLife > .zero {
        failures[fetch.key] = clock.now.offset
      }
      if fetch.isReload { outdo(fetch) }
      fetch.source.failed(number(2) == 0 ? Offline() : Refused())
    default: fetch.source.completed()
    }
  }

  private func answer(_ fetch: Fetch) {
    let value = newValue(of: fetch.key, asked: fetch.began)
    if !fetch.isOvertaken { failures[fetch.key] = nil }
    outdo(fetch)
    fetch.source.next(value)
    fetch.source.completed()
  }

  /// Notes that the outcome of a fetch is known, before that of those that began earlier.
  private func outdo(_ fetch: Fetch) {
    for other in fetches where other.key == fetch.key && other.began < fetch.began {
      other.isOutdone = true
    }
  }

  /// Records a write to a key.
  private func note(_ key: Int) {
    lastWrite[key] = step
    failures[key] = nil
    for fetch in fetches where fetch.key == key && fetch.isActive { fetch.isOvertaken = true }
  }

  private func newValue(of key: Int, asked: Int) -> Int {
    step += 1
    values.append(Origin(key: key, bornAt: clock.now.offset, asked: asked, born: step))
    return values.count - 1
  }

  private func number(_ count: Int) -> Int {
    Int.random(in: 0..<count, using: &generator)
  }
}

// MARK: - What is promised

extension FreshnessModel {
  private func limit(_ freshness: Freshness) -> Duration {
    if case .atMost(let age) = freshness { return min(age, terms.freshFor - .nanoseconds(1)) }
    return terms.freshFor - .nanoseconds(1)
  }

  /// Returns the value that a get certainly has without a fetch.
  private func freshValue(for get: Get) -> Int? {
    guard case .any = get.freshness, terms.refreshAhead == .zero,
      let value = users.current(get.key)
    else { return nil }
    let bornAt = values[value].bornAt
    if let mark = marks[get.key], bornAt <= mark.time || values[value].asked < mark.step {
      return nil
    }
    return clock.now.offset - bornAt <= limit(.any) ? value : nil
  }

  private func check(_ get: Get, expecting value: Int?, begun: Int) {
    if let value, begun > 0 || get.recorder.transcript != ["next \(value)", "completed"] {
      troubles.append("a fresh value was not the answer: \(get.recorder.transcript)")
    }
    if get.freshness == .cachedOnly, begun > 0 { troubles.append("cachedOnly asked the origin") }
    if begun > 1 { troubles.append("\(begun) fetches for one get") }
    if let stale = staleValue(of: get), !hasFetch(of: get), failures[get.key] == nil {
      troubles.append("a stale value, \(stale), was the answer, and no new one is fetched")
    }
    if begun > 0, get.freshness != .reload, let failedAt = failures[get.key],
      clock.now.offset - failedAt < terms.failureLife
    {
      troubles.append("asked though a failure is remembered")
    }
  }

  /// Returns the stale value that a get received at once.
  private func staleValue(of get: Get) -> Int? {
    guard case .after = get.use, get.freshness != .cachedOnly,
      let value = get.recorder.values.first, values[value].born < get.began,
      clock.now.offset - values[value].bornAt > limit(get.freshness)
    else { return nil }
    return value
  }

  private func hasFetch(of get: Get) -> Bool {
    fetches.contains { $0.key == get.key && $0.isActive }
  }

  private func check(_ number: Int, for get: Get) {
    let (value, now) = (values[number], clock.now.offset)
    let age = now - value.bornAt
    if value.key != get.key { return troubles.append("a value of another key") }
    if let write = lastWrite[get.key], write < get.began, value.asked < write {
      troubles.append("a value from before a write that came before the get")
    }
    if let mark = marks[get.key], mark.step < get.began, value.asked < mark.step, get.use == .never,
      get.freshness != .cachedOnly
    {
      troubles.append("a value from before a mark that came before the get")
    }
    if value.born > get.began { return }
    if let usable = terms.usableFor, age >= usable {
      troubles.append("an unusable value, \(age) old")
    }
    switch get.freshness {
    case .reload:
      if get.use == .never { troubles.append("a reload got what was kept") }
    case .cachedOnly: break
    case .any, .atMost:
      guard age > limit(get.freshness) else { return }
      if get.use == .never {
        troubles.append("a stale value, \(age) old, for a get that wants none")
      }
    }
  }

  private func checkState(of key: Int) {
    guard let state = states[key].values.last else { return troubles.append("no state of \(key)") }
    // What is not usable is not shown, though it is kept.
    let isHidden = state.value == nil && terms.usableFor != nil
    if let value = users.current(key), state.value != value, !isHidden {
      troubles.append("the state of \(key) is not what is kept")
    }
    if state.isLoading != fetches.contains(where: { $0.key == key && $0.isActive }) {
      troubles.append("the state of \(key) says loading: \(state.isLoading)")
    }
  }

  private func checkFetches(of key: Int) {
    let active = fetches.filter {
      $0.key == key && $0.isActive && !$0.isOvertaken && !$0.isDisplaced && !$0.isReload
    }
    if active.count > 1 {
      troubles.append("two fetches of \(key) at once")
    }
  }
}

private struct ModelOrigin: Source {
  let begin: @Sendable (Int, Lookup) -> Signal<Int>

  func get(_ key: Int, _ lookup: Lookup) -> Signal<Int> {
    begin(key, lookup)
  }
}
