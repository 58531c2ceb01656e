import Foundation
import Millpond

/// One pass over the pictures: every place that shows one subscribes, all at the same time.
final class Pass: Sendable {
  private let layers: PictureLayers
  private let board: Board
  private let table: Locked<SummaryTable>
  private let subscriptions = Locked<[URL: [Disposable]]>([:])
  private let failures = Locked(0)
  private let places = DispatchGroup()

  init(_ layers: PictureLayers, _ board: Board, _ table: Locked<SummaryTable>) {
    self.layers = layers
    self.board = board
    self.table = table
  }

  /// The number of places whose picture failed to load.
  var failureCount: Int { failures.withLock { $0 } }

  /// Subscribes `count` places to the picture at `url`, and shows their progress in one row.
  ///
  /// - Parameters:
  ///   - url: The URL of the picture.
  ///   - label: The label of the row.
  ///   - count: The number of places.
  ///   - onProgress: Runs for each progress of the first place.
  func ask(
    for url: URL, label: String, places count: Int,
    onProgress: @escaping @Sendable (SignalProgress) -> Void
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
          onNext: { picture in
            let time = start.duration(to: .now)
            let (layer, bytes) = (self.layers.answers.layer(of: url), picture.count)
            self.table.withLock { $0.record(layer: layer, time: time, bytes: bytes) }
            if place == 0 {
              self.board.report(.done(layer: layer, bytes: bytes, time: time), row: row)
            }
          })
      subscriptions.withLock { $0[url, default: []].append(subscription) }
    }
  }

  /// Scrolls away so many of the last places that wait for `url`.
  func scrollAway(_ url: URL, places count: Int) {
    let leaving = subscriptions.withLock { subscriptions -> [Disposable] in
      let leaving = Array((subscriptions[url] ?? []).suffix(count))
      subscriptions[url]?.removeLast(leaving.count)
      return leaving
    }
    for subscription in leaving { subscription.dispose() }
  }

  /// Waits until every place has its picture, or has failed or left.
  func finish() async {
    await withCheckedContinuation { continuation in
      places.notify(queue: .global()) { continuation.resume() }
    }
  }

  private func ended(_ ending: Ending, _ url: URL, _ row: Int) {
    switch ending {
    case .completed: break
    case .failed(let error):
      failures.withLock { $0 += 1 }
      board.report(.failed(reason: "\(error)"), row: row)
    case .disposed:
      let isLast = subscriptions.withLock { $0[url]?.isEmpty ?? true }
      if isLast { board.report(.cancelled, row: row) }
    }
    places.leave()
  }
}
