import Foundation

/// The name extensions of media files, by the names and the first bytes of the files.
enum MediaType {
  /// Returns the name extension for a file: that of its name if it is one of media, or else the one
  /// for its first bytes, or else that of its name.
  static func pathExtension(of file: DiskFile, named name: String) -> String? {
    let named = pathExtension(of: name)
    if let named, known.contains(named) { return named }
    return firstBytes(of: file.url).flatMap { pathExtension(of: $0) } ?? named
  }

  /// Returns the extension of a file name or of a URL's path, in lowercase.
  static func pathExtension(of name: String) -> String? {
    var path = name.prefix { $0 != "?" && $0 != "#" }
    if let scheme = path.range(of: "://") {
      path = path[scheme.upperBound...].drop { $0 != "/" }
    }
    let last = path.split(separator: "/", omittingEmptySubsequences: false).last ?? ""
    guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return nil }
    let text = last[last.index(after: dot)...].lowercased()
    return FileName.isExtension(text) ? text : nil
  }

  /// Returns the extension for the type that the first bytes of a file show.
  ///
  /// - Source: WHATWG MIME Sniffing §6; ISO/IEC 14496-12 §4.3 for the brands of `ftyp`.
  static func pathExtension(of bytes: [UInt8]) -> String? {
    func has(_ text: String, at offset: Int = 0) -> Bool {
      bytes.dropFirst(offset).starts(with: text.unicodeScalars.map { UInt8($0.value) })
    }
    if has("ftyp", at: 4) {
      if has("M4A ", at: 8) || has("M4B ", at: 8) { return "m4a" }
      if has("qt  ", at: 8) { return "mov" }
      if has("heic", at: 8) || has("heix", at: 8) || has("mif1", at: 8) { return "heic" }
      return has("avif", at: 8) ? "avif" : "mp4"
    }
    if has("RIFF") {
      return has("WAVE", at: 8)
        ? "wav" : has("WEBP", at: 8) ? "webp" : has("AVI ", at: 8) ? "avi" : nil
    }
    if let found = signatures.first(where: { has($0.bytes) }) { return found.pathExtension }
    // A frame of MPEG audio: eleven set bits, layer III.
    if bytes.count > 1, bytes[0] == 0xFF, bytes[1] & 0xE6 == 0xE2 { return "mp3" }
    return nil
  }

  private static let signatures: [(bytes: String, pathExtension: String)] = [
    ("ID3", "mp3"), ("\u{89}PNG\r\n\u{1A}\n", "png"), ("\u{FF}\u{D8}\u{FF}", "jpg"),
    ("GIF8", "gif"), ("OggS", "ogg"), ("fLaC", "flac"), ("%PDF-", "pdf"), ("#EXTM3U", "m3u8"),
    ("\u{1A}\u{45}\u{DF}\u{A3}", "webm"), ("caff", "caf"), ("FORM", "aiff"), ("MThd", "mid"),
    ("II*\u{0}", "tiff"), ("MM\u{0}*", "tiff"), ("BM", "bmp"),
  ]

  private static let known: Set<String> = [
    "aac", "aif", "aiff", "avi", "avif", "bmp", "caf", "flac", "gif", "heic", "heif", "jpeg", "jpg",
    "m3u8", "m4a", "m4b", "m4v", "mid", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "oga", "ogg",
    "ogv", "opus", "pdf", "png", "svg", "tif", "tiff", "ts", "usdz", "wav", "webm", "webp",
  ]

  private static func firstBytes(of file: URL) -> [UInt8]? {
    guard let handle = try? FileHandle(forReadingFrom: file) else { return nil }
    defer { try? handle.close() }
    return (try? handle.read(upToCount: 16)).map { Array($0) }
  }
}

extension DiskCache {
  /// Returns the file under a name with the extension that players expect of it.
  ///
  /// - Parameters:
  ///   - file: A file of this cache.
  ///   - name: The name of the value, possibly a URL.
  func presented(_ file: DiskFile, for name: String) -> DiskFile {
    guard let store = access.store,
      let pathExtension = MediaType.pathExtension(of: file, named: name)
    else { return file }
    return store.linked(file, pathExtension: pathExtension)
  }
}
