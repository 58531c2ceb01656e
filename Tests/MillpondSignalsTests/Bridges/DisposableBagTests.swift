import MillpondSignals
import MillpondTesting
import Testing

@Suite struct DisposableBagTests {
  let source = TestSource<Int>()

  @Test func `a bag disposes of all that is in it`() {
    let bag = DisposableBag()
    for _ in 0..<3 { source.signal.subscribe().disposed(by: bag) }

    bag.dispose()

    #expect(source.disposals == 3)
  }

  @Test func `releasing a bag disposes of all that is in it`() {
    do {
      let bag = DisposableBag()
      source.signal.subscribe().disposed(by: bag)
      #expect(source.activeRuns == 1)
    }

    #expect(source.disposals == 1)
  }

  @Test func `a disposable added to an ended bag is disposed of at once`() {
    let bag = DisposableBag()
    bag.dispose()

    source.signal.subscribe().disposed(by: bag)

    #expect(source.disposals == 1)
  }

  @Test func `a subscription that ends by itself leaves the bag`() {
    let bag = DisposableBag()
    let released = Journal<Int>()
    do {
      let witness = Witness { released.write(1) }
      let disposable = Disposable { _ = witness }
      bag.insert(disposable)
      disposable.dispose()
    }

    #expect(released.entries == [1])
    withExtendedLifetime(bag) {}
  }

  @Test func `inserting and disposing at the same time leaves nothing running`() async throws {
    for _ in 0..<200 {
      let bag = DisposableBag()
      let source = TestSource<Int>()

      try await race(3) { index in
        if index == 0 { return bag.dispose() }
        for _ in 0..<5 { source.signal.subscribe().disposed(by: bag) }
      }

      #expect(source.disposals == 10)
    }
  }

  @Test func `a disposable that a teardown inserts into its own bag is disposed of`() {
    let bag = DisposableBag()
    bag.insert(Disposable { [source] in source.signal.subscribe().disposed(by: bag) })

    bag.dispose()

    #expect(source.disposals == 1)
  }
}
