import MillpondCore

/// The state of a composition, as the page receives it.
struct Snapshot: Encodable, Sendable {
  let title: String
  let permissions: [String]

  /// Whether gets are recorded: a part of the composition is monitored.
  let isMonitored: Bool

  let part: PartState

  /// The oldest flights.
  let flights: [FlightState]
  let flightCount: Int

  /// The gets since the snapshot before, in order; of many the newest.
  let gets: [GetState]

  /// The number of gets since the snapshot before that are not in ``gets``.
  let skipped: Int

  /// The number of gets since the page was opened.
  let getCount: Int

  /// The greatest numbers of flights and gets in one snapshot.
  static let (flightLimit, getLimit) = (50, 100)
}

/// A layer or a group of layers.
struct PartState: Encodable, Sendable {
  /// The numbers of the part and those around it, such as `0.1`.
  let id: String
  let role: String
  let label: String

  /// The titles of the wrappers around the layer, from the outermost, and its own.
  let titles: [String]
  let count: Int?
  let cost: Int?
  let counters: CountersState?

  /// The state of the server behind the layer, in one line.
  let server: String?
  let answers: AnswersState?
  let flightCount: Int
  let canTrim: Bool
  let parts: [PartState]
}

/// The counters of a store, and its limits.
struct CountersState: Encodable, Sendable, Equatable {
  let hits: Int
  let misses: Int
  let insertions: Int
  let rejections: Int
  let evictions: Int
  let expirations: Int
  let countLimit: Int?
  let costLimit: Int?
  let isInBytes: Bool
}

/// The answers of a layer since the page was opened.
struct AnswersState: Encodable, Sendable, Equatable {
  let hits: Int
  let misses: Int
  let failures: Int
  let refusals: Int
  let joins: Int

  /// The time that half of the answers take at most; nil if none was timed.
  let median: String?

  /// The time that all but one of a hundred answers take at most.
  let slow: String?
}

struct FlightState: Encodable, Sendable {
  let key: String
  let isWhole: Bool
  let layer: String
  let age: String
  let callers: Int
  let priority: String
  let place: String?
}

/// A get that has ended, or a write that failed.
struct GetState: Encodable, Sendable {
  /// The answer of one layer.
  struct Step: Encodable, Sendable, Equatable {
    let layer: String
    let words: String
    let tone: String
  }

  let number: Int
  let key: String?

  /// Whether the key is the whole text, by which it can be removed.
  let isWhole: Bool

  /// The milliseconds since its end.
  let ago: Int
  let steps: [Step]

  /// The end in words; empty for an immediate value.
  let end: String
  let tone: String
}
