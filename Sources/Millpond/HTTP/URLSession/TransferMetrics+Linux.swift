#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking

  // A session calls no delegate with metrics (swift-corelibs-foundation 6.3.1), so the times are
  // those of its other calls.
  extension SessionTransfers {
    func beginAnswer(_ task: URLSessionTask) {
      if settings.onMetrics != nil { change(task) { $0.firstByte = .now } }
    }

    func endExchange(_ entry: Entry?, _ response: URLResponse?) {
      guard let onMetrics = settings.onMetrics, let entry else { return }
      // A redirect comes without a call for its head.
      let firstByte = entry.firstByte ?? (response == nil ? nil : .now)
      onMetrics(
        TransferMetrics(
          url: entry.transfer.url.textWithoutSecrets,
          status: (response as? HTTPURLResponse)?.statusCode,
          total: .now - entry.start, firstByte: firstByte.map { $0 - entry.start },
          connection: nil))
    }
  }
#endif
