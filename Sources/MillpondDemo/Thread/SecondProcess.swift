import Foundation

/// A second process of this program, which shows that the disk layer outlasts the first.
enum SecondProcess {
  private static let origin = "MILLPOND_DEMO_ORIGIN"

  /// The first process's origin; nil in the first process.
  static var originOfFirst: String? {
    ProcessInfo.processInfo.environment[origin]
  }

  /// Runs this program with the same folder, and waits for it.
  ///
  /// - Returns: Whether it succeeded.
  static func run(arguments: [String], cache: URL, origin base: String) async throws -> Bool {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = arguments + ["--cache", cache.path]
    process.environment = ProcessInfo.processInfo.environment.merging([origin: base]) { $1 }
    return try await withCheckedThrowingContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus == 0) }
      do {
        try process.run()
      } catch {
        process.terminationHandler = nil
        continuation.resume(throwing: error)
      }
    }
  }
}
