// Members that Dispatch has on Apple's platforms only; imported in every file of a module. They run,
// so that what uses them can be tested: the system's pressure is what a test says.
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
  ) -> any DispatchSourceMemoryPressure {
    PressureStandIn(mask: eventMask, queue: queue ?? .global())
  }
}

public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {
  var data: DispatchSource.MemoryPressureEvent { get }
  var mask: DispatchSource.MemoryPressureEvent { get }

  /// Not of Dispatch.
  var standIn: PressureStandIn { get }
}

// Dispatch's own versions of these, for all sources, accept none but its own class.
extension DispatchSourceMemoryPressure {
  public func setEventHandler(
    qos: DispatchQoS = .unspecified, flags: DispatchWorkItemFlags = [],
    handler: DispatchSourceHandler?
  ) { standIn.setHandler(handler) }

  public func activate() { standIn.start() }
  public func cancel() { standIn.stop() }
}

/// A source whose events a test sends.
public final class PressureStandIn: DispatchSourceMemoryPressure, @unchecked Sendable {
  public typealias Event = DispatchSource.MemoryPressureEvent

  /// The sources that are active and not cancelled. Touched on `registry` only.
  nonisolated(unsafe) private static var active: [PressureStandIn] = []
  private static let registry = DispatchQueue(label: "pressure-stand-in")

  /// The number of sources that are active and not cancelled.
  public static var activeCount: Int { registry.sync { active.count } }

  /// Sends an event to all active sources, and waits until their handlers have run.
  public static func send(_ event: Event) {
    for source in registry.sync(execute: { active }) where source.state.mask.contains(event) {
      source.queue.sync {
        source.state.data = event
        source.state.handler?()
      }
    }
  }

  private let queue: DispatchQueue
  /// Touched on the source's own queue, or before it is active.
  private var state: (mask: Event, data: Event, handler: DispatchSourceHandler?)

  init(mask: Event, queue: DispatchQueue) {
    self.queue = queue
    state = (mask, [], nil)
  }

  public var data: Event { state.data }
  public var mask: Event { state.mask }
  public var handle: UInt { 0 }
  public var isCancelled: Bool { !Self.registry.sync { Self.active.contains { $0 === self } } }

  public var standIn: PressureStandIn { self }

  func setHandler(_ handler: DispatchSourceHandler?) { state.handler = handler }
  func start() { Self.registry.sync { Self.active.append(self) } }

  /// Removes the source; its queue releases the handler, as the system does.
  func stop() {
    Self.registry.sync { Self.active.removeAll { $0 === self } }
    queue.async { self.state.handler = nil }
  }
}
