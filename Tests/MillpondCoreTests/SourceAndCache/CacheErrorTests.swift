import MillpondCore
import MillpondSignals
import Testing

@Suite struct CacheErrorTests {
  struct Trouble: Error, CustomStringConvertible {
    let description = "no space left"
  }

  @Test(arguments: [
    (CacheError.circular(key: "user 7"), "user 7"), (.refused(key: "user 7"), "user 7"),
    (.unavailable(layer: "disk", underlying: Trouble()), "disk"),
    (.unavailable(layer: "disk", underlying: Trouble()), "no space left"),
    (.partlyStored(key: "user 7", layer: "memory", underlying: Trouble()), "memory"),
    (.inUse(layer: "disk"), "disk"),
    (.nameTaken(name: "users"), "users"),
  ])
  func `an error says what it is about`(error: CacheError, content: String) {
    #expect("\(error)".contains(content))
  }

  @Test func `a signal's error says which limit was hit, and how to raise it`() {
    #expect("\(SignalError.bufferFull(limit: 12))".contains("12 events"))
    #expect("\(SignalError.bufferFull(limit: 12))".contains("receive(on:limit:)"))
    #expect("\(SignalError.abandoned(origin: "A.swift:7"))".contains("A.swift:7"))
  }
}
