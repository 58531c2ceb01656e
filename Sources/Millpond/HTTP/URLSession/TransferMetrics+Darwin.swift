#if !canImport(FoundationNetworking)
  import Foundation

  extension SessionTransfers {
    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
      guard let onMetrics = settings.onMetrics else { return }
      for exchange in metrics.transactionMetrics where exchange.resourceFetchType != .localCache {
        onMetrics(TransferMetrics(exchange))
      }
    }

    // The session measures.
    func beginAnswer(_ task: URLSessionTask) {}
    func endExchange(_ entry: Entry?, _ response: URLResponse?) {}
  }

  extension TransferMetrics {
    fileprivate init(_ exchange: URLSessionTaskTransactionMetrics) {
      let start = exchange.fetchStartDate
      let end = exchange.responseEndDate ?? Date()
      self.init(
        url: exchange.request.url?.textWithoutSecrets ?? "",
        status: (exchange.response as? HTTPURLResponse)?.statusCode,
        total: duration(start, end) ?? .zero,
        firstByte: duration(start, exchange.responseStartDate),
        connection: Connection(
          isReused: exchange.isReusedConnection, protocolName: exchange.networkProtocolName,
          nameLookup: duration(exchange.domainLookupStartDate, exchange.domainLookupEndDate),
          setup: duration(exchange.connectStartDate, exchange.connectEndDate),
          security: duration(
            exchange.secureConnectionStartDate, exchange.secureConnectionEndDate),
          isExpensive: exchange.isExpensive, isConstrained: exchange.isConstrained))
    }
  }

  private func duration(_ start: Date?, _ end: Date?) -> Duration? {
    guard let start, let end else { return nil }
    return .seconds(max(0, end.timeIntervalSince(start)))
  }
#endif
