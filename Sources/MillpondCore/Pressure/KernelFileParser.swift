/// A parser of the kernel's small text files; everything it cannot parse is nil.
enum KernelFileParser {
  /// Returns the byte count that a file consists of; nil for `max` and for numbers beyond `Int`.
  static func bytes(_ text: String) -> Int? {
    text.split(whereSeparator: \.isWhitespace).first.flatMap(count)
  }

  /// Returns the count in the line `name count`.
  static func bytes(of name: String, in text: String) -> Int? {
    words(of: name, in: text)?.first.flatMap(count)
  }

  /// Returns the bytes in the line `name count kB`.
  static func kibibytes(of name: String, in text: String) -> Int? {
    guard let words = words(of: name, in: text), words.count == 2, words[1] == "kB",
      let count = count(words[0])
    else { return nil }
    let (bytes, overflow) = count.multipliedReportingOverflow(by: 1_024)
    return overflow ? nil : bytes
  }

  /// Returns the ten-second average, in per cent, from the line `name avg10=2.50 …`.
  static func average(of name: String, in text: String) -> Double? {
    let label = "avg10="
    guard let word = words(of: name, in: text)?.first(where: { $0.hasPrefix(label) }),
      let average = Double(word.dropFirst(label.count)), (0...100).contains(average)
    else { return nil }
    return average
  }

  /// Returns the words after `name` in the first line that begins with it.
  private static func words(of name: String, in text: String) -> [Substring]? {
    for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix(name) {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.first.map({ $0 == name }) == true { return Array(words.dropFirst()) }
    }
    return nil
  }

  private static func count(_ word: Substring) -> Int? {
    Int(word).flatMap { $0 < 0 ? nil : $0 }
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A short file of the kernel's, whose content is generated on reading.
enum TextFile {
  /// An `errno` value with its message.
  struct Failure: Error, CustomStringConvertible {
    let code: Int32

    var description: String { String(cString: strerror(code)) }
  }

  /// The greatest number of bytes read from a file, more than any text we need.
  static let limit = 16_384

  /// Returns the start of a file, with invalid UTF-8 replaced.
  static func read(_ path: String) throws(Failure) -> String {
    // Non-blocking, in case the path is a pipe.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Failure(code: errno) }
    defer { _ = close(descriptor) }
    return String(decoding: try bytes(descriptor), as: UTF8.self)
  }

  private static func bytes(_ descriptor: Int32) throws(Failure) -> ArraySlice<UInt8> {
    var bytes = [UInt8](repeating: 0, count: limit)
    var count = 0
    while count < limit {
      let read = bytes.withUnsafeMutableBytes { [count] in
        systemRead(descriptor, $0.baseAddress.map { $0 + count }, limit - count)
      }
      if read == 0 { break }
      if read > 0 { count += read } else if errno != EINTR { throw Failure(code: errno) }
    }
    return bytes[..<count]
  }
}

private func systemRead(_ descriptor: Int32, _ start: UnsafeMutableRawPointer?, _ count: Int) -> Int
{
  read(descriptor, start, count)
}

/// The error when no source reports the amount of memory.
struct UnreadableMemory: Error, CustomStringConvertible {
  /// The files that were tried, each with the reason why it did not help.
  let tried: [String]

  var description: String {
    "no file states how much memory there is; tried \(tried.joined(separator: ", "))"
  }

  /// Returns the text of a file, and the attempt to report if the text does not help.
  static func read(_ path: String) -> (text: String?, attempt: String) {
    do {
      return (try TextFile.read(path), "\(path): does not state it")
    } catch {
      return (nil, "\(path): \(error)")
    }
  }
}
