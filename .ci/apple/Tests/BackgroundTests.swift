import Foundation
import Millpond
import MillpondTesting
import Testing
import UIKit

/// The flush when an app enters the background, with a stand-in for the system.
@Suite(.serialized) @MainActor struct BackgroundTests {
  let repository = Repository()
  let flushes = TestSource<Void>()
  let app = UIApplication.shared

  /// Posts the notification from another thread, since Foundation waits for the main queue here.
  private func enterBackground() async {
    await Task.detached {
      NotificationCenter.default.post(
        name: UIApplication.didEnterBackgroundNotification, object: nil)
    }.value
    await turn()
  }

  /// Waits until the main queue has run what it has.
  private func turn() async {
    await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
  }

  private func listening() throws -> Disposable {
    let flushes = flushes
    try repository.add(RepositoryMember(flush: { flushes.signal }), named: "held")
    return repository.flushWhenBackgrounded()
  }

  @Test func `members are flushed in background time, which ends with the flush`() async throws {
    let listening = try listening()
    #expect(app.tasks.isEmpty)

    await enterBackground()
    #expect(flushes.subscriptions == 1)
    #expect(app.tasks.count == 1)
    flushes.completed()
    await turn()

    #expect(app.tasks.isEmpty)
    #expect(app.wrongEnds == 0)
    listening.dispose()
  }

  @Test func `background time ends also with a flush that fails`() async throws {
    let listening = try listening()

    await enterBackground()
    flushes.failed(CacheError.miss)
    await turn()

    #expect(app.tasks.isEmpty)
    listening.dispose()
  }

  @Test func `time that is over is given back once, whenever the flush ends`() async throws {
    let listening = try listening()
    await enterBackground()

    for handler in app.tasks.values { handler?() }
    #expect(app.tasks.isEmpty)
    flushes.completed()
    await turn()

    #expect(app.tasks.isEmpty)
    #expect(app.wrongEnds == 0)
    listening.dispose()
  }

  @Test func `nothing is flushed after disposal`() async throws {
    try listening().dispose()

    await enterBackground()

    #expect(flushes.subscriptions == 0)
    #expect(app.tasks.isEmpty)
  }
}
