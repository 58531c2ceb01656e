#if MILLPOND_SCHEDULES
  #if canImport(Runtime)
    import MillpondSignals
    import Runtime

    /// The innermost places of the calling code, outside of locks and schedules.
    struct CodePlace: CustomStringConvertible {
      private let trace: Backtrace

      /// The descriptions of the stacks so far: a schedule is run and read several times, and its
      /// lines take long to find.
      private static let known = Locked<[[Backtrace.Address]: String]>([:])

      /// Captures the place of the call; nil if the stack can't be read.
      init?() {
        guard let trace = try? Backtrace.capture(limit: 24) else { return nil }
        self.trace = trace
      }

      /// The files and lines of three calls.
      var description: String {
        let stack = trace.frames.map(\.originalProgramCounter)
        if let known = Self.known.withLock({ $0[stack] }) { return known }
        let places = places
        Self.known.withLock { $0[stack] = places }
        return places
      }

      /// The files and lines, found in the debug information.
      private var places: String {
        let frames = trace.symbolicated()?.frames ?? []
        let places = frames.lazy.compactMap { $0.symbol?.sourceLocation }
          .filter { location in
            !["/Schedules/", "/Locked.swift", "<compiler-generated>"].contains {
              location.path.contains($0)
            } && location.line > 0
          }
          .map { "\($0.path.split(separator: "/").last ?? ""):\($0.line)" }
        let text = places.prefix(3).joined(separator: " < ")
        return text.isEmpty ? "" : ", at \(text)"
      }
    }
  #else
    /// No place: the platform has no module that reads the stack.
    struct CodePlace: CustomStringConvertible {
      let description = ""

      init?() {
        return nil
      }
    }
  #endif
#endif
