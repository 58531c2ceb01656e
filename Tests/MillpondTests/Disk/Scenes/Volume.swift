/// The files of one folder, in the system's memory and on the device.
struct Volume: Sendable {
  static let pageSize = 4_096
  private static let sectorSize = 512

  /// A file, which may have lost its name.
  struct File: Sendable {
    var content: [UInt8] = []

    /// The content at the last synchronization, with the pages that got there since.
    private(set) var durable: [UInt8] = []
    private(set) var dirtyPages: Set<Int> = []

    init(_ content: [UInt8] = []) {
      (self.content, durable) = (content, content)
    }

    mutating func write(_ bytes: [UInt8], at offset: Int) {
      if bytes.isEmpty { return }
      let end = offset + bytes.count
      if content.count < end { content += [UInt8](repeating: 0, count: end - content.count) }
      bytes.withUnsafeBytes { bytes in
        content.withUnsafeMutableBytes {
          UnsafeMutableRawBufferPointer(rebasing: $0[offset..<end]).copyMemory(from: bytes)
        }
      }
      dirtyPages.formUnion(offset / pageSize...(end - 1) / pageSize)
    }

    mutating func truncate(to size: Int) {
      if size <= content.count {
        content.removeLast(content.count - size)
      } else {
        content += [UInt8](repeating: 0, count: size - content.count)
      }
    }

    mutating func synchronize() {
      durable = content
      dirtyPages = []
    }

    /// Brings one page to the device, as the system does when it likes.
    mutating func writeBack(_ random: inout SeededNumbers) {
      guard !dirtyPages.isEmpty else { return }
      let page = dirtyPages.sorted()[random.next(dirtyPages.count)]
      let (start, end) = (page * pageSize, min((page + 1) * pageSize, content.count))
      dirtyPages.remove(page)
      if start >= end { return }
      if durable.count < end { durable += [UInt8](repeating: 0, count: end - durable.count) }
      File.copy(start..<end, of: content, to: &durable)
    }

    /// Returns the contents after a power cut.
    ///
    /// - Parameter keep: The probability in percent that a page without synchronization has reached
    ///   the device.
    func survivor(keep: Int, _ random: inout SeededNumbers) -> [UInt8] {
      var left = durable
      if random.next(100) < keep, left.count != content.count {
        left = Array(left.prefix(content.count))
        left += [UInt8](repeating: 0, count: content.count - left.count)
      }
      for page in dirtyPages.sorted() where page * pageSize < left.count {
        let isTorn = keep > 0 && keep < 100 && random.next(4) == 0
        if !isTorn, random.next(100) >= keep { continue }
        let end = min((page + 1) * pageSize, left.count, content.count)
        let size = isTorn ? sectorSize : pageSize
        for start in stride(from: page * pageSize, to: end, by: size)
        where !isTorn || random.next(2) == 0 {
          File.copy(start..<min(start + size, end), of: content, to: &left)
        }
      }
      return left
    }

    private static func copy(_ range: Range<Int>, of source: [UInt8], to target: inout [UInt8]) {
      source.withUnsafeBytes { source in
        target.withUnsafeMutableBytes { target in
          UnsafeMutableRawBufferPointer(rebasing: target[range])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
        }
      }
    }
  }

  /// A call that changes something.
  enum Change: Sendable {
    case make(String)
    case write(file: Int, [UInt8], offset: Int)
    case truncate(file: Int, size: Int)
    case synchronize(file: Int)
    case synchronizeFolder
    case rename(String, String)
    case remove(String)
  }

  private(set) var files: [File] = []

  /// The file of each name.
  private(set) var names: [String: Int] = [:]
  private var durableNames: [String: Int] = [:]

  mutating func apply(_ change: Change) {
    switch change {
    case .make(let name):
      names[name] = files.count
      files.append(File())
    case .write(let file, let bytes, let offset): files[file].write(bytes, at: offset)
    case .truncate(let file, let size): files[file].truncate(to: size)
    case .synchronize(let file): files[file].synchronize()
    case .synchronizeFolder: durableNames = names
    case .rename(let old, let new): names[new] = names.removeValue(forKey: old)
    case .remove(let name): names[name] = nil
    }
  }

  /// Writes something back to the device without a request.
  mutating func writeBack(_ random: inout SeededNumbers) {
    let dirtyNames = dirtyNames
    if !dirtyNames.isEmpty, random.next(2) == 0 {
      let name = dirtyNames[random.next(dirtyNames.count)]
      durableNames[name] = names[name]
    }
    let dirty = files.indices.filter { !files[$0].dirtyPages.isEmpty }
    if !dirty.isEmpty { files[dirty[random.next(dirty.count)]].writeBack(&random) }
  }

  private var dirtyNames: [String] {
    Set(names.keys).union(durableNames.keys).filter { names[$0] != durableNames[$0] }.sorted()
  }

  /// Returns the volume after a power cut: any part of the changes without synchronization may be
  /// lost.
  func afterPowerCut(_ random: inout SeededNumbers) -> Volume {
    let keep = [0, 100, 50, 90, 20][random.next(5)]
    let keepNames = [0, 100, 50][random.next(3)]
    var left = durableNames
    for name in dirtyNames where random.next(100) < keepNames { left[name] = names[name] }
    var volume = Volume()
    for (name, file) in left.sorted(by: { $0.key < $1.key }) {
      volume.names[name] = volume.files.count
      volume.files.append(File(files[file].survivor(keep: keep, &random)))
    }
    volume.durableNames = volume.names
    return volume
  }
}
