import Foundation

@testable import MillpondBench

/// A fresh work folder, which is removed after the test.
final class WorkFolderScene: Sendable {
  let workFolder: WorkFolder

  init() throws {
    workFolder = try WorkFolder(in: FileManager.default.temporaryDirectory.path)
  }

  deinit {
    workFolder.clear()
  }
}

/// Runs `work` on a thread of its own, since it waits.
func onThread<Outcome: Sendable>(
  _ work: @escaping @Sendable () -> Outcome
) async -> Outcome {
  await withCheckedContinuation { continuation in
    onOtherThread { continuation.resume(returning: work()) }
  }
}

/// Starts `work` on a thread of its own.
func onOtherThread(_ work: @escaping @Sendable () -> Void) {
  Thread.detachNewThread(work)
}
