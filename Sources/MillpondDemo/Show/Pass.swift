import Foundation
import Millpond

/// One pass over the pictures: every place that shows one subscribes, all at the same time.
final class Pass: Sendable {
  private let layers: PictureLayers
  private let board: Board
  private let table: LockedState<SummaryTable>
  private let subscriptions = LockedState<[URL: [Disposable]]>([:])
  private let failures = LockedState(0)
  private let answeredRows = LockedState<Set<Int>>([])
  private let places = DispatchGroup()

  init(_ layers: PictureLayers, _ board: Board, _ table: LockedState<SummaryTable>) {
    self.layers = layers
    self.board = board
    self.table = table
  }

  /// The number of places whose picture failed to load.
  var failureCount: Int {
    failures.withLock { $0 }
  }

  /// Subscribes `count` places to the picture at `url`, and shows their progress in one row.
  ///
  /// - Parameters:
  ///   - url: The URL of the picture.
  ///   - label: The label of the row.
  ///   - count: The number of places.
  ///   - onProgress: Runs for each progress of the first place.
  func ask(
    for url: URL, label: String, places count: Int,
    onProgress: @escaping @Sendable (SignalProgress) -> Void = { _ in }
  ) {
    let row = board.addRow(count == 1 ? label : "\(label) ×\(count)")
    for place in 0..<count {
      places.enter()
      let start = ContinuousClock.now
      let subscription = layers.pictures.get(url)
        .onEnd { self.ended($0, url, row) }
        .subscribe(
          onProgress: { progress in
            self.board.report(
              .loading(completed: progress.completed, total: progress.total), row: row)
            if place == 0 { onProgress(progress) }
          },
          onNext: { self.answered(url, $0, start.duration(to: .now), row) })
      subscriptions.withLock { $0[url, default: []].append(subscription) }
    }
  }

  /// Scrolls away `count` of the places that wait for `url`.
  func scrollAway(_ url: URL, places count: Int) {
    let leaving = subscriptions.withLock { subscriptions -> [Disposable] in
      let leaving = (subscriptions[url] ?? []).prefix(count)
      subscriptions[url]?.removeFirst(leaving.count)
      return Array(leaving)
    }
    for subscription in leaving { subscription.dispose() }
  }

  /// Waits until every place has its picture, or has failed or left.
  func finish() async {
    await withCheckedContinuation { continuation in
      places.notify(queue: .global()) { continuation.resume() }
    }
  }

  private func answered(_ url: URL, _ data: Data, _ time: Duration, _ row: Int) {
    let layer = layers.answers.layer(of: url)
    table.withLock { $0.record(layer: layer, time: time, bytes: data.count) }
    guard answeredRows.withLock({ $0.insert(row).inserted }) else { return }
    board.report(.done(layer: layer, bytes: data.count, time: time), row: row)
  }

  private func ended(_ ending: Ending, _ url: URL, _ row: Int) {
    switch ending {
    case .completed: break
    case .failed(let error):
      failures.withLock { $0 += 1 }
      board.report(.failed(reason: "\(error)"), row: row)
    case .disposed:
      let isLast = subscriptions.withLock { $0[url]?.isEmpty ?? true }
      if isLast { board.report(.cancelled(reason: "its last row scrolled away"), row: row) }
    }
    places.leave()
  }
}
