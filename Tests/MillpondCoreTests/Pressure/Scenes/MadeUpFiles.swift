import MillpondSignals

@testable import MillpondCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder with files like the kernel's, removed with this.
final class MadeUpFiles: Sendable {
  let root: String
  private let made = Locked<[String]>([])

  init() {
    let template = Array("/tmp/pressure-XXXXXX".utf8CString)
    root = template.withUnsafeBufferPointer { template in
      let name = UnsafeMutablePointer<CChar>.allocate(capacity: template.count)
      defer { name.deallocate() }
      name.initialize(from: template.baseAddress ?? UnsafePointer(name), count: template.count)
      return mkdtemp(name).map { String(cString: $0) } ?? ""
    }
  }

  deinit {
    for path in made.withLock({ $0 }).reversed() { remove(path) }
    remove(root)
  }

  /// The system's memory as this folder describes it.
  var memory: SystemMemory {
    SystemMemory(proc: "\(root)/proc", controlGroups: "\(root)/cgroup")
  }

  /// Writes a file, in folders that are made if need be.
  func write(_ text: String, to path: String) {
    makeFolders(above: path)
    let descriptor = open("\(root)/\(path)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { _ = close(descriptor) }
    made.withLock { $0.append("\(root)/\(path)") }
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { systemWrite(descriptor, $0) }
  }

  /// Writes the available memory of a machine with a hundred megabytes.
  func writeMachine(available: Int) {
    write(
      "MemTotal: 100000 kB\nMemFree: 7 kB\nMemAvailable: \(available * 1_000) kB\n",
      to: "proc/meminfo")
  }

  func delete(_ path: String) {
    remove("\(root)/\(path)")
  }

  private func makeFolders(above path: String) {
    var folder = root
    for component in path.split(separator: "/").dropLast() {
      folder += "/\(component)"
      if mkdir(folder, 0o700) == 0 { made.withLock { [folder] in $0.append(folder) } }
    }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
