import MillpondSignals

/// A contender, its contents and its accesses: work to be measured.
///
/// Sendable because nothing of it changes but the contender, under its lock, and Foundation's
/// immutable objects may be read by any thread.
final class FilledMemory<Kept: MemoryContender>: @unchecked Sendable {
  /// The visits of one thread: the keys in its order, so that no key is looked up.
  private struct Path {
    let keys: [Kept.Key]
    let values: [Kept.Value]
  }

  private let size: Int
  private let keys: [Kept.Key]
  private let values: [Kept.Value]
  private let visits: Visits
  private let paths: [Path]
  private let contender = Locked<Kept?>(nil)

  /// - Parameter keys: Those of which the first `size` are stored, and others.
  init(_ keys: [String], _ size: Int, _ visits: Visits) {
    let (keys, values) = (keys.map(Kept.key), keys.indices.map(Kept.value))
    (self.keys, self.values, self.size, self.visits) = (keys, values, size, visits)
    paths = visits.ofThreads.map { numbers in
      Path(keys: numbers.map { keys[$0] }, values: numbers.map { values[$0] })
    }
  }

  /// Returns the work of an operation on all keys of the visits.
  func work(_ operation: MemoryOperation) -> Work {
    switch operation {
    case .hit, .miss: lookUps(areFound: operation == .hit)
    case .insert: inserts()
    }
  }

  /// Gets each key; a miss counts -1.
  private func lookUps(areFound: Bool) -> Work {
    let sum = visits.ofThreads.joined().reduce(0) { $0 + (areFound ? $1 : -1) }
    return warm(sum) { contender, path in
      var sum = 0
      for key in path.keys { sum &+= contender.number(for: key) ?? -1 }
      return sum
    }
  }

  /// Inserts new keys into a full contender, a new one each time, so that the number of its values
  /// stays the same.
  private func inserts() -> Work {
    Work(
      Kept.name, expected: { _ in self.count() }, prepare: { self.fill() },
      run: { _ in
        let size = self.size
        return self.summed { contender, path in
          for index in path.keys.indices {
            contender.keep(path.values[index], for: path.keys[index])
          }
          return 0
        } + size
      })
  }

  /// Fills a new contender with all its values.
  func fill() {
    let new = Kept(limit: size)
    for index in 0..<size { new.keep(values[index], for: keys[index]) }
    let old = contender.withLock { contender in
      defer { contender = new }
      return contender
    }
    withExtendedLifetime(old) {}
  }

  /// Returns the present number of values.
  func count() -> Int {
    contender.withLock { $0 }?.count(among: keys) ?? 0
  }

  /// Walks all paths once for each pass and once before each repetition.
  ///
  /// Otherwise a contender that follows another with the same keys would find them in the
  /// processor's caches.
  private func warm(
    _ sum: Int, _ walk: @escaping @Sendable (Kept, Path) -> Int
  ) -> Work {
    Work(
      Kept.name, expected: { self.passes($0) * sum },
      prepare: {
        if self.contender.withLock({ $0 == nil }) { self.fill() }
        _ = self.summed(walk)
      },
      run: { operations in
        let passes = self.passes(operations)
        return self.summed { contender, path in
          (0..<passes).reduce(0) { sum, _ in sum &+ walk(contender, path) }
        }
      })
  }

  /// Returns the number of walks over the threads' paths for that many operations.
  private func passes(_ operations: Int) -> Int {
    operations / max(1, visits.count)
  }

  private func summed(_ walk: @escaping @Sendable (Kept, Path) -> Int) -> Int {
    guard let contender = contender.withLock({ $0 }) else { return 0 }
    if paths.count == 1 { return walk(contender, paths[0]) }
    let sum = Locked(0)
    together(paths.count) { thread in
      let part = walk(contender, self.paths[thread])
      sum.withLock { $0 &+= part }
    }
    return sum.withLock { $0 }
  }
}
