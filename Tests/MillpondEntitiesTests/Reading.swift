import Foundation
import MillpondCore
import MillpondEntities
import MillpondSignals

extension EntityStore {
  /// Returns the name of a thing, read by a thread of its own; nil if that has to wait for this
  /// one.
  func nameReadElsewhere(_ id: Int) -> String? {
    let name = Locked<String?>(nil)
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      let found = self.get(Reference<Thing>(id))?.name
      name.withLock { $0 = found }
      done.signal()
    }
    return done.wait(timeout: .now() + .seconds(10)) == .success ? name.withLock { $0 } : nil
  }
}
