import Foundation

/// The file that a page will be written to.
struct OutputFile {
  private let path: String

  /// Checks that the file can be written, without changing it.
  ///
  /// - Throws: ``FileTrouble`` when it can't.
  init(_ path: String) throws(FileTrouble) {
    self.path = path
    let wasThere = access(path, F_OK) == 0
    close(try Self.open(path, O_WRONLY | O_CREAT))
    if !wasThere { unlink(path) }
  }

  /// Replaces the contents of the file.
  func write(_ text: String) throws(FileTrouble) {
    let file = FileHandle(
      fileDescriptor: try Self.open(path, O_WRONLY | O_CREAT | O_TRUNC), closeOnDealloc: true)
    do {
      try file.write(contentsOf: Data(text.utf8))
    } catch {
      throw FileTrouble(path: path, reason: error.localizedDescription)
    }
  }

  private static func open(_ path: String, _ flags: Int32) throws(FileTrouble) -> Int32 {
    let descriptor = Foundation.open(path, flags, 0o644)
    if descriptor < 0 { throw FileTrouble(path: path) }
    return descriptor
  }
}
