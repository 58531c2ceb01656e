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

/// A write of a history.
struct CacheLawsWrite {
  /// The keys that the write concerns; nil for all.
  let keys: Set<Int>?
  let time: Int
  let name: String
  let outcome = Recorder<Void>()

  func concerns(_ key: Int) -> Bool {
    keys?.contains(key) ?? true
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
struct CacheLawsRun<Value: Sendable> {
  let run: TestRun<Value>
  let number: Int
  let origin: Int
  let key: Int
  let time: Int
}

/// A value that was written, or sent by a run, and the time of the write or of the run's start.
struct CacheLawsMaking<Value: Sendable> {
  let value: Value
  let key: Int
  let time: Int
}

/// The failure that the checks configured for a layer or an origin.
struct CacheLawsError: Error, CustomStringConvertible {
  let layer: Int?

  var description: String {
    layer.map { "trouble in layer \($0)" } ?? "trouble in the origin"
  }
}
