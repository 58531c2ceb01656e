import Foundation
import Millpond

extension Interruption {
  /// Ends the program at the user's wish, when the screen is right again and what was told is on
  /// disk.
  convenience init(leaving layers: Layers, _ keeper: BoardKeeper) {
    self.init { code in
      keeper.close()
      let written = DispatchSemaphore(value: 0)
      layers.disk.flush().onEnd { _ in written.signal() }.subscribe()
      _ = written.wait(timeout: .now() + .seconds(2))
      exit(code)
    }
  }
}
