import Foundation
import MillpondSignals

@testable import Millpond

/// System calls on a volume in memory, which records them.
final class VolumeCalls: FileCalls {
  private struct State: Sendable {
    var volume: Volume
    var changes: [Volume.Change] = []
    var openFiles: [Int32: Int] = [:]
    var lastDescriptor: Int32 = 100
  }

  private static let folder = -1
  private let state: Locked<State>

  init(_ volume: Volume = Volume()) {
    state = Locked(State(volume: volume))
  }

  /// All that has been changed.
  var changes: [Volume.Change] {
    state.withLock { $0.changes }
  }

  var changeCount: Int {
    state.withLock { $0.changes.count }
  }

  var volume: Volume {
    state.withLock { $0.volume }
  }

  private func apply(_ change: Volume.Change) {
    state.withLock { state in
      state.volume.apply(change)
      state.changes.append(change)
    }
  }

  private func file(_ descriptor: Int32) throws -> Int {
    guard let file = state.withLock({ $0.openFiles[descriptor] }) else { throw POSIXError(.EBADF) }
    return file
  }

  private func name(_ path: String) -> String {
    String(path.split(separator: "/").last ?? "")
  }

  func open(_ path: String, _ access: FileAccess) throws -> Int32 {
    let name = name(path)
    let result = state.withLock { state -> Result<Int32, POSIXError> in
      var file = access == .folder ? Self.folder : state.volume.names[name]
      if access == .making, file != nil { return .failure(POSIXError(.EEXIST)) }
      if file == nil, access == .making || access == .sharing {
        state.volume.apply(.make(name))
        state.changes.append(.make(name))
        file = state.volume.names[name]
      }
      guard let file else { return .failure(POSIXError(.ENOENT)) }
      state.lastDescriptor += 1
      state.openFiles[state.lastDescriptor] = file
      return .success(state.lastDescriptor)
    }
    return try result.get()
  }

  func close(_ descriptor: Int32) throws {
    state.withLock { $0.openFiles[descriptor] = nil }
  }

  func status(_ descriptor: Int32) throws -> FileStatus {
    status(of: try file(descriptor))
  }

  func status(_ path: String) throws -> FileStatus {
    guard let file = state.withLock({ $0.volume.names[name(path)] }) else {
      throw POSIXError(.ENOENT)
    }
    return status(of: file)
  }

  private func status(of file: Int) -> FileStatus {
    FileStatus(
      isRegular: file >= 0,
      size: file < 0 ? 0 : state.withLock { $0.volume.files[file].content.count },
      identity: FileIdentity(device: 1, number: UInt64(file + 2)))
  }

  func read(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws -> Int {
    let file = try file(descriptor)
    return state.withLock { state in
      state.volume.files[file].content.withUnsafeBytes { content in
        guard offset < content.count else { return 0 }
        let part = content[offset..<min(content.count, offset + bytes.count)]
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
        return part.count
      }
    }
  }

  func readNow(
    _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer, at offset: Int
  ) -> Int? {
    try? read(descriptor, into: bytes, at: offset)
  }

  func isInMemory(_ descriptor: Int32) -> Bool {
    true
  }

  func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int) throws -> Int {
    apply(.write(file: try file(descriptor), Array(bytes), offset: offset))
    return bytes.count
  }

  func synchronize(_ descriptor: Int32) throws {
    let file = try file(descriptor)
    apply(file == Self.folder ? .synchronizeFolder : .synchronize(file: file))
  }

  func truncate(_ descriptor: Int32, to size: Int) throws {
    apply(.truncate(file: try file(descriptor), size: size))
  }

  func rename(_ path: String, to newPath: String) throws {
    _ = try status(path)
    apply(.rename(name(path), name(newPath)))
  }

  /// The volume has no further names.
  func link(_ path: String, to newPath: String) throws {
    throw POSIXError(.EPERM)
  }

  func remove(_ path: String) throws {
    _ = try status(path)
    apply(.remove(name(path)))
  }

  func makeFolder(_ path: String) throws {
    throw POSIXError(.EEXIST)
  }

  func namesInFolder(_ path: String) throws -> [String] {
    state.withLock { Array($0.volume.names.keys) }
  }

  func lock(_ descriptor: Int32) throws -> Bool {
    true
  }

  func unlock(_ descriptor: Int32) {}
}
