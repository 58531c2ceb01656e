import Foundation
import MillpondSignals

@testable import Millpond

/// System calls that can be made to fail, to stop halfway, or to be the last.
final class FaultyCalls: FileCalls {
  enum Call: Sendable, Hashable, CaseIterable {
    case open, make, close, status, read, readNow, write, synchronize, truncate, rename, remove,
      link
    case makeFolder, names, lock

    /// The calls that leave something on the disk.
    static let effects: Set<Call> = [
      .make, .write, .truncate, .rename, .remove, .link, .makeFolder,
    ]
    static let all = Set(allCases)
  }

  enum Fault: Sendable {
    case error(POSIXErrorCode)

    /// Reads or writes half of the bytes, and reports that.
    case half

    /// Reports success without an effect.
    case lie

    /// Lets nothing reach the disk from this call on, as after a kill: all calls fail.
    ///
    /// Half of a write may be done before.
    case death(isHalfDone: Bool)
  }

  /// The calls that a fault is for.
  private struct Plan {
    let fault: Fault
    let calls: Set<Call>

    /// The number of calls before it.
    var toCome: Int

    /// The number of calls that have it.
    var count: Int
  }

  private struct State: Sendable {
    /// One after the other.
    var plans: [Plan] = []
    var isDead = false
    var counts: [Call: Int] = [:]
  }

  private let calls = POSIXCalls()
  private let state = Locked(State())
  private let before: @Sendable (Call) -> Void

  /// The error of every changing call.
  private let refusal: POSIXErrorCode?

  /// - Parameters:
  ///   - refusal: The error of every changing call, as on a read-only volume; nil for none.
  ///   - before: Called before each call, on the thread that makes it; before an unlock too, which
  ///     counts as a lock.
  init(
    refusing refusal: POSIXErrorCode? = nil, before: @escaping @Sendable (Call) -> Void = { _ in }
  ) {
    self.refusal = refusal
    self.before = before
  }

  /// Makes `count` calls of these kinds fail, after `after` good ones, and after earlier plans.
  func inject(
    _ fault: Fault, after: Int = 0, of calls: Set<Call> = Call.all, count: Int = 1
  ) {
    let plan = Plan(fault: fault, calls: calls, toCome: after, count: count)
    state.withLock { $0.plans.append(plan) }
  }

  /// Lets all calls succeed from now on, also after a death.
  func recover() {
    state.withLock { $0 = State() }
  }

  func die() {
    state.withLock { $0.isDead = true }
  }

  var isDead: Bool {
    state.withLock { $0.isDead }
  }

  /// Whether a fault is still to come.
  var isWaiting: Bool {
    state.withLock { !$0.plans.isEmpty }
  }

  func count(_ call: Call) -> Int {
    state.withLock { $0.counts[call] ?? 0 }
  }

  /// Returns the fault of this call.
  private func enter(_ call: Call) throws -> Fault? {
    before(call)
    if let refusal, Call.effects.contains(call), call != .makeFolder { throw POSIXError(refusal) }
    let (fault, wasDead) = state.withLock { state -> (Fault?, Bool) in
      state.counts[call, default: 0] += 1
      if state.isDead { return (nil, true) }
      guard var plan = state.plans.first, plan.calls.contains(call) else { return (nil, false) }
      plan.toCome -= 1
      if plan.toCome >= 0 {
        state.plans[0] = plan
        return (nil, false)
      }
      plan.count -= 1
      if plan.count > 0 { state.plans[0] = plan } else { state.plans.removeFirst() }
      if case .death = plan.fault { state.isDead = true }
      return (plan.fault, false)
    }
    if wasDead { throw POSIXError(.EIO) }
    if case .error(let code) = fault { throw POSIXError(code) }
    if case .death = fault, call != .write { throw POSIXError(.EIO) }
    return fault
  }

  private func perform(_ call: Call, _ body: () throws -> Void) throws {
    if case .lie = try enter(call) { return }
    try body()
  }
}

// MARK: - The calls

extension FaultyCalls {
  func open(_ path: String, _ access: FileAccess) throws -> Int32 {
    switch access {
    case .making, .sharing: _ = try enter(.make)
    case .updating where refusal != nil: _ = try enter(.make)
    case .reading, .updating, .folder: _ = try enter(.open)
    }
    return try calls.open(path, access)
  }

  /// An open file is closed in any case.
  func close(_ descriptor: Int32) throws {
    try calls.close(descriptor)
    _ = try enter(.close)
  }

  func status(_ descriptor: Int32) throws -> FileStatus {
    _ = try enter(.status)
    return try calls.status(descriptor)
  }

  func status(_ path: String) throws -> FileStatus {
    _ = try enter(.status)
    return try calls.status(path)
  }

  func read(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws -> Int {
    guard case .half = try enter(.read), bytes.count > 1 else {
      return try calls.read(descriptor, into: bytes, at: offset)
    }
    let half = UnsafeMutableRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
    return try calls.read(descriptor, into: half, at: offset)
  }

  func readNow(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int? {
    do {
      guard try enter(.readNow) == nil else { return nil }
      return calls.readNow(descriptor, into: bytes, at: offset)
    } catch {
      return nil
    }
  }

  func isInMemory(_ descriptor: Int32) -> Bool {
    false
  }

  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> Int {
    let half = UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count / 2)])
    switch try enter(.write) {
    case .half where bytes.count > 1: return try calls.write(descriptor, half, at: offset)
    case .lie: return bytes.count
    case .death(let isHalfDone):
      if isHalfDone { _ = try calls.write(descriptor, half, at: offset) }
      throw POSIXError(.EIO)
    default: return try calls.write(descriptor, bytes, at: offset)
    }
  }

  func synchronize(_ descriptor: Int32) throws {
    try perform(.synchronize) { try calls.synchronize(descriptor) }
  }

  func truncate(_ descriptor: Int32, to size: Int) throws {
    try perform(.truncate) { try calls.truncate(descriptor, to: size) }
  }

  func rename(_ path: String, to newPath: String) throws {
    try perform(.rename) { try calls.rename(path, to: newPath) }
  }

  func link(_ path: String, to newPath: String) throws {
    try perform(.link) { try calls.link(path, to: newPath) }
  }

  func remove(_ path: String) throws {
    try perform(.remove) { try calls.remove(path) }
  }

  func makeFolder(_ path: String) throws {
    try perform(.makeFolder) { try calls.makeFolder(path) }
  }

  func namesInFolder(_ path: String) throws -> [String] {
    _ = try enter(.names)
    return try calls.namesInFolder(path)
  }

  func lock(_ descriptor: Int32) throws -> Bool {
    _ = try enter(.lock)
    return try calls.lock(descriptor)
  }

  /// Succeeds also after a death: the system unlocks for a dead process.
  func unlock(_ descriptor: Int32) {
    before(.lock)
    calls.unlock(descriptor)
  }
}
