// Members that Dispatch has on Apple's platforms only; imported in every file of a module.
//
// Signatures: https://developer.apple.com/documentation/dispatch/dispatchsource and, in open source,
// https://github.com/swiftlang/swift-corelibs-libdispatch (src/swift/Source.swift, behind os(macOS)).
public import Dispatch

extension DispatchSource {
  public struct MemoryPressureEvent: OptionSet, RawRepresentable, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let normal = MemoryPressureEvent(rawValue: 1)
    public static let warning = MemoryPressureEvent(rawValue: 2)
    public static let critical = MemoryPressureEvent(rawValue: 4)
    public static let all = MemoryPressureEvent(rawValue: 7)
  }

  public class func makeMemoryPressureSource(
    eventMask: MemoryPressureEvent, queue: DispatchQueue? = nil
  ) -> any DispatchSourceMemoryPressure { fatalError() }
}

public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {
  var data: DispatchSource.MemoryPressureEvent { get }
  var mask: DispatchSource.MemoryPressureEvent { get }
}
