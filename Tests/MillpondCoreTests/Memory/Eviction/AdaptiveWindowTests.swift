import Testing

@testable import MillpondCore

@Suite struct AdaptiveWindowTests {
  var share = AdaptiveWindow()

  private mutating func steer(window: Int, main: Int, times: Int = 1) {
    for _ in 0..<times {
      (share.windowHits, share.mainHits) = (window, main)
      share.steer(windowWeight: 50, mainWeight: 50)
    }
  }

  @Test mutating func `the window grows where it gives more hits, and shrinks where it does not`() {
    steer(window: 100, main: 10)
    let grown = share.share
    #expect(grown > 0.02)

    steer(window: 10, main: 100)
    #expect(share.share < grown)
  }

  @Test mutating func `it stays where both bring as much`() {
    steer(window: 100, main: 10, times: 3)
    let before = share.share

    steer(window: 50, main: 50)

    #expect(share.share == before)
  }

  @Test mutating func `the share follows the hits for each unit of space, not the hits`() {
    (share.windowHits, share.mainHits) = (10, 100)

    share.steer(windowWeight: 1, mainWeight: 99)

    #expect(share.share > 0.02)
  }

  @Test mutating func `it never leaves its bounds`() {
    steer(window: 1_000_000, main: 0, times: 1_000)
    #expect(share.share == 0.8)

    steer(window: 0, main: 1_000_000, times: 1_000)
    #expect(share.share == 0.02)
  }

  @Test mutating func `one step is at most three tenths`() {
    (share.windowHits, share.mainHits) = (.max / 2, 0)

    share.steer(windowWeight: 0, mainWeight: .max)

    #expect(share.share <= 0.32 + 1e-9)
  }

  @Test mutating func `without hits it stays, and counts anew`() {
    share.misses = 1_000
    share.steer(windowWeight: 1, mainWeight: 1)

    #expect(share.share == 0.02 && share.misses == 0)
  }

  @Test(arguments: [(0, 100), (10, 100), (25, 100), (26, 104), (1_000, 4_000)])
  func `a step is due after four askings an entry, and a hundred at least`(
    entries: Int, askings: Int
  ) {
    var share = share

    (share.windowHits, share.mainHits, share.misses) = (1, 2, askings - 4)
    #expect(!share.isDue(entries: entries))

    share.misses += 1
    #expect(share.isDue(entries: entries))
  }
}
