/// Where Linux tells of memory, and in which order to believe it.
struct SystemMemory: Sendable {
  /// The folder in which the kernel tells of processes and of the machine.
  var proc = "/proc"

  /// The folder in which the trees of control groups are mounted.
  var controlGroups = "/sys/fs/cgroup"

  /// What can be known, from those files of which `text` gives the content.
  func readings(_ text: (String) -> String?) -> MemoryReadings {
    let place = text("\(proc)/self/cgroup").map { ControlGroups($0) } ?? ControlGroups()
    let groups = place.groups(root: controlGroups)
    let machine = text("\(proc)/meminfo").flatMap { MemoryUse(meminfo: $0) }
    return MemoryReadings(
      room: tightestRoom(of: groups, on: machine, text) ?? machine,
      stall: stall(of: groups, text))
  }

  /// A limit that is no less than all there is limits nothing; version 1 says so for "none".
  private func tightestRoom(
    of groups: [ControlGroup], on machine: MemoryUse?, _ text: (String) -> String?
  ) -> MemoryUse? {
    let endless = machine?.limit ?? 1 << 60
    return groups.compactMap { $0.room(below: endless, text) }
      .max { $0.usedShare < $1.usedShare }
  }

  /// The innermost group's that tells, as it suffers from the limits above it too; else the machine's.
  private func stall(of groups: [ControlGroup], _ text: (String) -> String?) -> MemoryStall? {
    for group in groups {
      if let stall = group.stall(text) { return stall }
    }
    return text("\(proc)/pressure/memory").flatMap { MemoryStall(pressure: $0) }
  }
}
