// The part of OSLog that an article uses.
//
// Signatures: https://developer.apple.com/documentation/os.
public enum OSLogPrivacy: Sendable { case `public`, `private`, auto }

public struct OSLogInterpolation: StringInterpolationProtocol {
  public init(literalCapacity: Int, interpolationCount: Int) {}
  public mutating func appendLiteral(_ literal: String) {}
  public mutating func appendInterpolation(
    _ text: @autoclosure @escaping () -> String, privacy: OSLogPrivacy = .auto
  ) {}
  public mutating func appendInterpolation<T: CustomStringConvertible>(
    _ value: @autoclosure @escaping () -> T, privacy: OSLogPrivacy = .auto
  ) {}
}

public struct OSLogMessage: ExpressibleByStringInterpolation {
  public init(stringInterpolation: OSLogInterpolation) {}
  public init(stringLiteral text: String) {}
}

public typealias SignpostMetadata = OSLogMessage

public struct Logger: @unchecked Sendable {
  public init(subsystem: String, category: String) {}
  public func debug(_ message: OSLogMessage) {}
  public func notice(_ message: OSLogMessage) {}
  public func error(_ message: OSLogMessage) {}
}

public struct OSSignpostID: Sendable {
  public static var exclusive: OSSignpostID { fatalError() }
}

public final class OSSignpostIntervalState: @unchecked Sendable {}

public struct OSSignposter: @unchecked Sendable {
  public init(subsystem: String, category: String) {}
  public func makeSignpostID() -> OSSignpostID { fatalError() }
  public func beginInterval(
    _ name: StaticString, id: OSSignpostID = .exclusive
  ) -> OSSignpostIntervalState { fatalError() }
  public func endInterval(
    _ name: StaticString, _ state: OSSignpostIntervalState, _ message: SignpostMetadata
  ) {}
}
