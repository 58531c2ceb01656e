/// The format of a trace's accesses: records of one length, little-endian.
enum TraceRecord: String, CaseIterable {
  /// A key of 8 bytes.
  case key = "u64"

  /// A key of 8 bytes, and a size in bytes of 4.
  case keyAndSize = "u64u32"

  var length: Int {
    self == .key ? 8 : 12
  }
}

/// A reader of records from bytes in pieces, which may end anywhere.
struct TraceReader {
  private let record: TraceRecord
  private var keys: [UInt64] = []
  private var sizes: [UInt32] = []
  private var rest: [UInt8] = []

  init(_ record: TraceRecord) {
    self.record = record
  }

  mutating func receive(_ bytes: some Sequence<UInt8>) {
    rest.append(contentsOf: bytes)
    rest.withUnsafeBytes { bytes in
      for start in stride(from: 0, through: bytes.count - record.length, by: record.length) {
        let key = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
        keys.append(UInt64(littleEndian: key))
        guard record == .keyAndSize else { continue }
        let size = bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt32.self)
        sizes.append(UInt32(littleEndian: size))
      }
    }
    rest.removeFirst(rest.count / record.length * record.length)
  }

  /// Returns everything that was read.
  ///
  /// - Throws: ``TraceError`` if the last record is cut, or if there is none.
  func trace(name: String) throws(TraceError) -> Trace {
    if !rest.isEmpty { throw .cut(name, record) }
    if keys.isEmpty { throw .empty(name) }
    return Trace(name: name, keys: keys, sizes: record == .keyAndSize ? sizes : nil)
  }
}

/// The reason for the absence of a trace.
enum TraceError: Error, CustomStringConvertible {
  case cut(String, TraceRecord)
  case empty(String)
  case none(in: String)
  case unreadable(String, reason: String)
  case xzMissing(String)

  var description: String {
    switch self {
    case .cut(let name, let record):
      "the trace \(name) ends within a record of \(record.length) bytes"
    case .empty(let name): "the trace \(name) is empty"
    case .none(let folder): "no traces in \(folder), nor in a folder there; see --help"
    case .unreadable(let path, let reason): "can't read \(path): \(reason)"
    case .xzMissing(let path): "reading \(path) needs the command xz, which is not installed"
    }
  }
}
