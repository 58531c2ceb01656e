/// What an entry is called in the folder: 128 bits of its key's hash, in hexadecimal.
///
/// So any key, of any length, gets a name that is legal and inside the folder on every volume, also
/// where upper and lower case are the same. Two keys of one name are told apart by the key in the
/// record; the later one takes the place of the other.
///
/// All lie in the folder itself: small values will go to a log, and a few thousand large files need
/// no subfolders.
struct EntryName: Sendable, Hashable {
  static let suffix = ".millpond"
  static let temporarySuffix = ".millpond-new"

  let high: UInt64
  let low: UInt64

  init(of key: String) {
    var key = key
    (high, low) = key.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return (FoldHash.hash(bytes, seed: 1), FoldHash.hash(bytes, seed: 2))
    }
  }

  /// The name in a file name; nil for a file that is no entry.
  init?(fileName: UnsafeRawBufferPointer) {
    guard fileName.count == 32 + Self.suffix.utf8.count,
      fileName.dropFirst(32).elementsEqual(Self.suffix.utf8),
      let high = Self.number(fileName.prefix(16)),
      let low = Self.number(fileName.dropFirst(16).prefix(16))
    else { return nil }
    self.high = high
    self.low = low
  }

  var fileName: String {
    Self.digits(high) + Self.digits(low) + Self.suffix
  }

  /// What a file is called until it is whole.
  static func temporaryFileName(_ number: UInt64) -> String {
    digits(number) + temporarySuffix
  }

  /// Whether only we can have made a file of this name, and it was not finished.
  static func isTemporary(fileName: UnsafeRawBufferPointer) -> Bool {
    fileName.count == 16 + temporarySuffix.utf8.count
      && fileName.dropFirst(16).elementsEqual(temporarySuffix.utf8)
      && number(fileName.prefix(16)) != nil
  }

  private static func digits(_ number: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { buffer in
      for place in 0..<16 {
        let digit = UInt8(number >> UInt64(60 - 4 * place) & 15)
        buffer[place] = digit < 10 ? 48 + digit : 87 + digit
      }
      return 16
    }
  }

  /// Lower case only: of two spellings one would not be found under its own name.
  private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64? {
    var number: UInt64 = 0
    for byte in digits {
      switch byte {
      case 48...57: number = number << 4 | UInt64(byte - 48)
      case 97...102: number = number << 4 | UInt64(byte - 87)
      default: return nil
      }
    }
    return number
  }
}
