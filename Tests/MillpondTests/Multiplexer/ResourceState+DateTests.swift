import Foundation
import MillpondTesting
import Testing

@testable import Millpond

@Suite struct ResourceStateDateTests {
  @Test func `a state tells when its value left the origin, for as long as it is kept`() throws {
    let clock = ManualClock()
    let users = MultiplexerMap<String, Int>(clock: clock) { _ in 1 }
    users.set(1, for: "a")
    clock.advance(by: .minutes(10))

    let before = Date().addingTimeInterval(-601)
    let shown = Recorder<ResourceState<Int>>().subscribe(to: users.states(of: "a"))
    let state = try #require(shown.values.last)

    let fetchedAt = try #require(state.fetchedAt)
    #expect(fetchedAt > before)
    #expect(fetchedAt < Date().addingTimeInterval(-599))
    users.remove("a")
    #expect(shown.values.last?.fetchedAt == nil)
  }
}
