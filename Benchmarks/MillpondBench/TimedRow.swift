extension Row {
  /// Creates a row of nanoseconds, and one of allocations if those have a target.
  ///
  /// - Parameters:
  ///   - target: Nanoseconds that an operation may take, on a machine on which the floor takes as
  ///     long as where it was set; elsewhere as many times the floor.
  ///   - mallocs: Objects that an operation may allocate.
  ///   - times: The target as a multiple of the floor, where that itself is the promise.
  ///   - peer: The fastest other library, with its nanoseconds where the target was set.
  init(
    _ name: String, _ summary: String, target: Double? = nil, mallocs: Int? = nil,
    times: Double? = nil, peer: (name: String, nanoseconds: Double)? = nil, figure: Figure = .best,
    beside floor: Work, _ body: Work
  ) {
    self.init(name, summary) { run, report in
      // Threads need more than one time slice to meet.
      let operations = run.count(100_000, quick: 4_000) * (figure == .median ? 4 : 1)
      var sample = Sample(name: name, summary: summary, unit: "ns")
      try sample.measure(
        [body, floor], operations, repetitions: run.count(25, quick: 3), figure)
      if let peer, let there = floor.elsewhere, let here = sample.floor() {
        sample.floors.append(
          Sample.Floor(name: "as \(peer.name)", value: peer.nanoseconds / there * here))
      }
      let multiple = times ?? target.flatMap { target in floor.elsewhere.map { target / $0 } }
      if target != nil || multiple != nil {
        sample.targets = [Target(atMost: target, times: multiple, floor: floor.name)]
      }
      report(sample)
      if let mallocs { report(try Sample(allocationsOf: body, operations, name, mallocs)) }
    }
  }
}

extension Sample {
  /// Counts the objects that a work allocates.
  fileprivate init(
    allocationsOf work: Work, _ operations: Int, _ name: String, _ target: Int
  ) throws {
    self.init(
      name: "\(name)-mallocs", summary: "objects that it allocates", unit: "",
      targets: [Target(atMost: Double(target) + 0.01)])
    try work.prepare()
    // Captured alone: the work's name may be a short string.
    let run = work.run
    var sum: Int?
    let count = AllocationCount.during { sum = try? run(operations) }
    isSumRight = try sum == work.expected(operations)
    value = count.map { (Double($0) / Double(operations) * 100).rounded() / 100 }
  }
}
