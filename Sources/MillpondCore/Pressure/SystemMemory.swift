/// The files in which Linux reports memory, and their precedence.
struct SystemMemory: Sendable {
  /// The folder in which the kernel reports on processes and the machine.
  var proc = "/proc"

  /// The folder of the mounted control group trees.
  var controlGroups = "/sys/fs/cgroup"

  /// Returns the readings from the files whose content `text` returns.
  func readings(_ text: (String) -> String?) -> MemoryReadings {
    let place = text("\(proc)/self/cgroup").map { ControlGroups($0) } ?? ControlGroups()
    let groups = place.groups(root: controlGroups)
    let machine = text("\(proc)/meminfo").flatMap { MemoryUse(meminfo: $0) }
    return MemoryReadings(
      room: tightestRoom(of: groups, on: machine, text) ?? machine,
      stall: stall(of: groups, text))
  }

  /// Returns the tightest room; a limit that is no less than the machine's memory is none.
  private func tightestRoom(
    of groups: [ControlGroup], on machine: MemoryUse?, _ text: (String) -> String?
  ) -> MemoryUse? {
    let endless = machine?.limit ?? 1 << 60
    return groups.compactMap { $0.room(below: endless, text) }
      .max { $0.usedShare < $1.usedShare }
  }

  /// Returns the stalls of the innermost group that reports them, which include those from the
  /// limits above it; else the machine's.
  private func stall(of groups: [ControlGroup], _ text: (String) -> String?) -> MemoryStall? {
    for group in groups {
      if let stall = group.stall(text) { return stall }
    }
    return text("\(proc)/pressure/memory").flatMap { MemoryStall(pressure: $0) }
  }
}
