import Foundation
import MillpondCore

extension LogWriter {
  /// Encodes a write at the end of the buffer.
  ///
  /// - Parameters:
  ///   - write: The write.
  ///   - part: The segment for which the buffer is.
  ///   - place: Its place in its group.
  ///   - count: The number of records in its group.
  func encode(
    _ write: DiskWrite, _ part: LogContents.Part, _ place: Int = 0, of count: Int = 1
  ) throws -> RecordLocation {
    guard let offset = UInt32(exactly: part.size + buffer.count) else {
      throw CLibrary.failure(.EFBIG, folder.path)
    }
    var head = RecordHead(.value)
    var payload = Data()
    switch write.content {
    case .value(let plain):
      payload = try form.sealed(plain, for: write.key)
      if payload.count >= DiskLimits.largeSize {
        // The file exists already if the record could not be written with others.
        let file = try write.file ?? writeLargeValue(payload)
        (head.kind, payload) = (.file, note(file, of: write))
      }
    case .file(let file):
      (head.kind, payload) = (.file, note(file, of: write))
    case .removal: head.kind = .removal
    case .removalOfAll: (head.kind, payload) = (.removalOfAll, survivors(of: write))
    }
    head.times = write.times
    head.schema = form.schema.version
    head.join(place, of: count)
    let size = payload.withUnsafeBytes {
      buffer.append(
        head, key: write.key, payload: $0,
        head.kind == .value || head.kind == .file ? write.validator : nil,
        segment: part.segment.number)
    }
    return RecordLocation(
      segment: part.segment.number, offset: offset, size: UInt32(size),
      expiry: write.times.expiresAt.expiry)
  }

  private func writeLargeValue(_ value: Data) throws -> FileValue {
    let number = numbers.next()
    do {
      return try folder.writeLargeValue(value, number: number)
    } catch {
      discard([.value(number)])
      throw error
    }
  }

  /// Returns the positions of the records that a removal of everything does not concern.
  private func survivors(of removal: DiskWrite) -> Data {
    let positions = state.withLock { $0.index.entries }
      .filter { $0.revision > removal.revision }.map(\.location.position)
    var bytes = [UInt8](repeating: 0, count: positions.count * LogPosition.size)
    bytes.withUnsafeMutableBytes { bytes in
      for (number, position) in positions.enumerated() {
        bytes.put(position.segment, number * LogPosition.size)
        bytes.put(position.offset, number * LogPosition.size + 4)
      }
    }
    return Data(bytes)
  }

  /// Records the file of a value.
  ///
  /// - Returns: The payload of its record.
  private func note(_ file: FileValue, of write: DiskWrite) -> Data {
    unsynchronized.files.insert(file.number)
    state.withLock { state in
      write.file = file
      state.index.statistics.bytesWritten += file.count
    }
    return Data(file.bytes)
  }
}
