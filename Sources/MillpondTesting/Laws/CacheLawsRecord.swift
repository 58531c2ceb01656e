import MillpondCore
import MillpondSignals

/// A get of a history.
final class CacheLawsGet<Value: Equatable & Sendable> {
  let key: Int
  let time: Int
  let name: String
  let recorder = Recorder<Value>()
  private(set) var hasLeft = false

  init(key: Int, time: Int, name: String) {
    self.key = key
    self.time = time
    self.name = name
  }

  /// Whether the get still waits.
  var isOpen: Bool {
    !hasLeft && recorder.end == nil
  }

  func leave() {
    hasLeft = true
    recorder.dispose()
  }
}

/// A write of a history; without a key it concerns all keys, or those of some numbers.
final class CacheLawsWrite<Value: Sendable> {
  let key: Int?
  let value: Value?
  let numbers: Set<Int>?
  let time: Int
  let name: String
  let outcome = Recorder<Void>()

  init(key: Int?, value: Value?, numbers: Set<Int>? = nil, time: Int, name: String) {
    self.key = key
    self.value = value
    self.numbers = numbers
    self.time = time
    self.name = name
  }

  func concerns(_ key: Int) -> Bool {
    self.key.map { $0 == key } ?? numbers?.contains(key) ?? true
  }

  /// Whether the former value is gone.
  ///
  /// A failed set may leave it, unless the cache reports `partlyStored`.
  var replaces: Bool {
    guard let failure = outcome.failure else { return true }
    if case CacheError.partlyStored = failure { return true }
    return false
  }
}

/// A run of an origin.
final class CacheLawsRun<Value: Sendable> {
  let run: TestRun<Value>
  let number: Int
  let origin: Int
  let key: Int
  let time: Int
  private(set) var sent: [Value] = []

  init(_ run: TestRun<Value>, number: Int, origin: Int, key: Int, time: Int) {
    self.run = run
    self.number = number
    self.origin = origin
    self.key = key
    self.time = time
  }

  func send(_ value: Value, ends: Bool) -> String {
    // Recorded first, because the value is received inside the call.
    sent.append(value)
    run.next(value)
    if ends { run.completed() }
    return ends ? "answers \(value)" : "sends \(value) and continues"
  }

  func miss() -> String {
    run.completed()
    return "ends"
  }

  func fail() -> String {
    run.failed(CacheLawsError(layer: nil))
    return "fails"
  }
}

/// The failure that the checks configured for a layer or an origin.
struct CacheLawsError: Error, CustomStringConvertible {
  let layer: Int?

  var description: String {
    layer.map { "trouble in layer \($0)" } ?? "trouble in the origin"
  }
}
