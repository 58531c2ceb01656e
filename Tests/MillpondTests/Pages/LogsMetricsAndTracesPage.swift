import Millpond

#if canImport(OSLog)
  import OSLog

  // The code of the page "Logs, metrics and traces" for Apple's platforms; what needs packages of others
  // was run in one with those.

  // snippet
  extension CacheMonitor {
    /// Writes the events to the log of the system until the result is disposed of.
    func log(to logger: Logger) -> Disposable {
      events.subscribe(onNext: { event in
        switch event.kind {
        case .failed(let error) where error.isNotFound: logger.debug("\(event, privacy: .public)")
        case .failed, .undecodable, .fillFailed, .writeFailed, .circuitOpened:
          logger.error("\(event, privacy: .public)")
        default: logger.debug("\(event, privacy: .public)")
        }
      })
    }
  }

  extension Source {
    /// Gets the value in an interval of Instruments, which ends with the answer of each layer.
    func get(_ key: Key, markedBy signposter: OSSignposter) async throws -> Value? {
      let interval = signposter.beginInterval("get", id: signposter.makeSignpostID())
      do {
        let found = try await lookUp(key).value
        signposter.endInterval("get", interval, "\(found.provenance, privacy: .public)")
        return found.value
      } catch {
        signposter.endInterval("get", interval, "\(String(describing: error))")
        throw error
      }
    }
  }
// end
#endif
