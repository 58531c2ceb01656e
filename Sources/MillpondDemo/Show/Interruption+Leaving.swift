import Foundation
import Millpond

extension Interruption {
  /// Ends the program on the user's request, after the screen is restored and writes are on disk.
  convenience init(leaving layers: PictureLayers, _ currentBoard: CurrentBoard) {
    self.init { code in
      currentBoard.close()
      let written = DispatchSemaphore(value: 0)
      layers.disk.flush().onEnd { _ in written.signal() }.subscribe()
      _ = written.wait(timeout: .now() + .seconds(2))
      exit(code)
    }
  }
}
