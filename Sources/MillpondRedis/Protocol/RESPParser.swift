import Foundation

/// A parser of replies that arrive in pieces, divided anywhere.
///
/// Memory is taken only for bytes that have arrived, whatever lengths are announced. After an error
/// the stream is unusable, and every further call throws it again.
///
/// - Complexity: O(bytes), also if they arrive one by one.
struct RESPParser: Sendable {
  private let limits: RESPLimits
  private var buffer: [UInt8] = []

  /// The first byte that has not been parsed, and the first that is not known to be within a line.
  private var start = 0
  private var scanned = 0

  /// The byte string whose bytes are awaited.
  private var awaited: (length: Int, kind: UInt8)?

  /// The aggregates that are not complete, the outermost first.
  private var open: [OpenAggregate] = []

  /// The elements and bytes of the reply so far.
  private var elements = 0
  private var bytes = 0
  private var failure: RESPError?

  init(_ limits: RESPLimits = RESPLimits()) {
    self.limits = limits
  }

  /// The number of bytes that are kept, parsed ones included.
  var heldBytes: Int { buffer.count }

  /// Adds bytes that have arrived.
  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if start == buffer.count {
      // A large reply leaves its room behind once, not for ever.
      buffer.removeAll(keepingCapacity: buffer.count <= 1 << 20)
      (start, scanned) = (0, 0)
    } else if start > 1 << 16, start > buffer.count / 2 {
      buffer.removeSubrange(..<start)
      (start, scanned) = (0, max(0, scanned - start))
    }
    buffer.append(contentsOf: bytes)
  }

  /// Returns the next complete reply; nil if more bytes are needed.
  mutating func next() throws(RESPError) -> RESPValue? {
    if let failure { throw failure }
    do {
      while let item = try nextItem() {
        if let value = try add(item) { return value }
      }
      return nil
    } catch {
      failure = error
      buffer = []
      open = []
      throw error
    }
  }

  // MARK: Items

  /// A complete value without elements, or the beginning of an aggregate.
  private enum Item {
    case value(RESPValue)
    case aggregate(kind: UInt8, count: Int)
  }

  private mutating func nextItem() throws(RESPError) -> Item? {
    if let awaited { return try string(awaited.length, awaited.kind) }
    guard let line = try nextLine() else { return nil }
    guard let kind = line.first else { throw .malformed("an empty line") }
    let rest = line.dropFirst()
    switch kind {
    case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
      let length = try Self.length(rest)
      guard let length else { return .value(.null) }
      if length > limits.stringLength { throw .beyondLimit("a string of \(length) bytes") }
      awaited = (length, kind)
      return try string(length, kind)
    case UInt8(ascii: "*"), UInt8(ascii: "~"), UInt8(ascii: "%"), UInt8(ascii: ">"),
      UInt8(ascii: "|"):
      guard let count = try Self.length(rest) else { return .value(.null) }
      let isPairs = kind == UInt8(ascii: "%") || kind == UInt8(ascii: "|")
      if count > limits.elements { throw .beyondLimit("\(count) elements") }
      return .aggregate(kind: kind, count: isPairs ? 2 * count : count)
    default:
      return .value(try Self.scalar(kind, rest))
    }
  }

  /// Returns the next line without its end, and goes behind it; nil until it is complete.
  private mutating func nextLine() throws(RESPError) -> ArraySlice<UInt8>? {
    let from = max(start, scanned)
    guard let end = buffer[from...].firstIndex(of: UInt8(ascii: "\r")), end + 1 < buffer.count
    else {
      scanned = max(from, buffer.count - 1)
      if buffer.count - start > limits.lineLength { throw .beyondLimit("a line") }
      return nil
    }
    if end - start > limits.lineLength { throw .beyondLimit("a line") }
    guard buffer[end + 1] == UInt8(ascii: "\n") else { throw .malformed("the end of a line") }
    let line = buffer[start..<end]
    try advance(to: end + 2)
    return line
  }

  private mutating func string(_ length: Int, _ kind: UInt8) throws(RESPError) -> Item? {
    guard buffer.count - start >= length + 2 else {
      if bytes + length > limits.bytes { throw .beyondLimit("the bytes of a reply") }
      return nil
    }
    let end = start + length
    guard buffer[end] == UInt8(ascii: "\r"), buffer[end + 1] == UInt8(ascii: "\n") else {
      throw .malformed("the end of a string")
    }
    let from = kind == UInt8(ascii: "=") ? min(end, start + 4) : start
    let content = buffer.withUnsafeBytes { bytes in
      bytes.baseAddress.map { Data(bytes: $0 + from, count: end - from) } ?? Data()
    }
    awaited = nil
    try advance(to: end + 2)
    if kind == UInt8(ascii: "!") { return .value(.error(String(decoding: content, as: UTF8.self))) }
    return .value(.bytes(content))
  }

  private mutating func advance(to end: Int) throws(RESPError) {
    bytes += end - start
    (start, scanned) = (end, end)
    if bytes > limits.bytes { throw .beyondLimit("the bytes of a reply") }
  }

  // MARK: Aggregates

  private struct OpenAggregate: Sendable {
    let kind: UInt8
    var remaining: Int
    var elements: [RESPValue] = []
  }

  /// Adds an item to the innermost aggregate; returns the reply if that completes it.
  private mutating func add(_ item: Item) throws(RESPError) -> RESPValue? {
    elements += 1
    if elements > limits.elements { throw .beyondLimit("the elements of a reply") }
    var value: RESPValue?
    switch item {
    case .value(let scalar): value = scalar
    case .aggregate(let kind, 0): value = Self.aggregate(kind, [])
    case .aggregate(let kind, let count):
      if open.count >= limits.depth { throw .beyondLimit("aggregates in each other") }
      if kind == UInt8(ascii: ">"), !open.isEmpty { throw .malformed("a push inside a reply") }
      open.append(OpenAggregate(kind: kind, remaining: count))
      return nil
    }
    while let complete = value, let last = open.indices.last {
      open[last].elements.append(complete)
      open[last].remaining -= 1
      guard open[last].remaining == 0 else { return nil }
      let ended = open.removeLast()
      // An attribute describes the value that follows, which takes its place.
      value = Self.aggregate(ended.kind, ended.elements)
    }
    if value != nil { (elements, bytes) = (0, 0) }
    return value
  }

  /// Returns nil for an attribute.
  private static func aggregate(_ kind: UInt8, _ elements: [RESPValue]) -> RESPValue? {
    switch kind {
    case UInt8(ascii: "%"): .map(elements)
    case UInt8(ascii: ">"): .push(elements)
    case UInt8(ascii: "|"): nil
    default: .array(elements)
    }
  }
}
