import MillpondCore

/// Which keys there are, where their records lie, and what has been told but does not lie there yet:
/// decides, and touches no file.
///
/// Pure; its owner locks, and releases what is dropped after the unlock.
struct DiskIndex: Sendable {
  private let costLimit: Int
  private var slots = SlotIndex()
  private var order: PolicyOrder
  private var told = ToldKeys()

  // A place in each for every slot.
  private var hashes = Column<KeyHash>()
  private var spots = Column<Spot>()

  // A place in each for the slots up to the last one that was told of in this run.
  private var revisions = Column<Revision>()

  /// What is on its way; the record at the spot, if there is one, is what was before.
  private var tellings: ContiguousArray<Told?> = []

  private var freeSlots: [Slot] = []
  private var largeValues: [Slot: LargeValue] = [:]
  private var leases: [UInt64: Int] = [:]

  /// Files that nobody needs but those who hold them.
  private var doomed: Set<UInt64> = []

  /// What all records that are needed take in the log.
  private(set) var liveBytes = 0

  /// What the large values take, that are or soon will be in files.
  private(set) var largeBytes = 0

  private(set) var statistics = DiskStatistics()

  init(costLimit: Int, _ policy: EvictionPolicy) {
    self.costLimit = costLimit
    order = PolicyOrder(policy, isWeighted: true)
  }

  var count: Int {
    slots.count
  }

  /// What all entries count for against the limit.
  var totalCost: Int {
    order.totalWeight
  }

  /// The last telling that could concern the key.
  func lastTold(_ hash: KeyHash) -> Revision {
    told.mark(hash.whole)
  }
}

// MARK: - Asking

extension DiskIndex {
  /// Where the value of a key is.
  enum Finding: Sendable {
    case told(Told)
    case spot(Spot)
  }

  /// The entry, which counts as used.
  mutating func find(_ hash: KeyHash) -> Finding? {
    guard let slot = slot(of: hash) else {
      order.missed(hash.bits)
      return nil
    }
    order.used(slot, hash.bits)
    return finding(slot)
  }

  /// The entry, which does not count as used.
  func peek(_ hash: KeyHash) -> Finding? {
    slot(of: hash).map { finding($0) }
  }

  /// Whether the newest record of the key lies there.
  func holds(_ hash: KeyHash, at spot: Spot) -> Bool {
    guard let slot = slot(of: hash) else { return false }
    return spots[slot].segment == spot.segment && spots[slot].offset == spot.offset
      && !spots[slot].isNowhere
  }

  /// What is there, those first that would go first.
  func forEach(_ body: (KeyHash, Finding) -> Void) {
    order.forEach { body(hashes[$0], finding($0)) }
  }

  /// What lies in the log, those first that would go first.
  func forEachSpot(_ body: (KeyHash, Spot, LargeValue?) -> Void) {
    order.forEach { slot in
      if !spots[slot].isNowhere { body(hashes[slot], spots[slot], largeValues[slot]) }
    }
  }

  private func finding(_ slot: Slot) -> Finding {
    if let telling = telling(of: slot) { .told(telling) } else { .spot(spots[slot]) }
  }

  private func slot(of hash: KeyHash) -> Slot? {
    // Captured by itself: all of this would be copied for the closure.
    let hashes = hashes
    return slots.find(hash.bits) { hashes[$0] == hash }
  }

  mutating func count(_ change: (inout DiskStatistics) -> Void) {
    change(&statistics)
  }
}

// MARK: - Telling

extension DiskIndex {
  /// What a telling comes to.
  struct Consequence: Sendable {
    /// Whether it is to be written; else it came too late, and nothing is to be done.
    var isToBeWritten = false

    /// What it takes the place of, that is not written yet.
    var superseded: Told?

    /// Files that are not needed any more.
    var files: [UInt64] = []

    /// What had to go before it was written.
    var evicted: [Told] = []
  }

  /// Keeps what was told, unless something later has been told.
  mutating func set(_ telling: Told, cost: Int) -> Consequence {
    told.outdateFills(telling.hash.whole, telling.revision)
    let slot = slot(of: telling.hash)
    let present = slot.map { revision(of: $0) } ?? .none
    if told.outdates(telling.hash.whole, telling.revision) || present > telling.revision {
      return Consequence()
    }
    return keep(telling, cost: cost, slot)
  }

  /// Keeps what a lower layer gave, unless something has been told since the mark was read.
  mutating func fill(_ telling: Told, cost: Int, _ mark: Mark) -> Consequence {
    guard mark.admits(lastTold(telling.hash)) else { return Consequence() }
    if mark.isReload { told.outdateFills(telling.hash.whole, .next()) }
    return keep(telling, cost: cost, slot(of: telling.hash))
  }

  /// Drops what was told before.
  ///
  /// It is written also where there is no entry: one may have gone for room, and lie there still.
  mutating func remove(_ telling: Told) -> Consequence {
    told.outdateFills(telling.hash.whole, telling.revision)
    told.remember(telling.hash.whole, telling.revision)
    var consequence = Consequence()
    if let slot = slot(of: telling.hash) {
      if revision(of: slot) > telling.revision { return consequence }
      supersede(drop(slot, &consequence), &consequence)
    }
    consequence.isToBeWritten = true
    return consequence
  }

  /// Drops everything that was told before; false if a later removal of everything came first.
  mutating func removeAll(_ revision: Revision, _ consequence: inout Consequence) -> Bool {
    guard told.tellAll(revision) else { return false }
    consequence.isToBeWritten = true
    dropAll(slots(where: { self.revision(of: $0) <= revision }), &consequence)
    return true
  }

  /// Drops all that lies on disk: it is there no more.
  mutating func forgetAllSpots(_ consequence: inout Consequence) {
    dropAll(slots(where: { telling(of: $0) == nil }), &consequence)
    liveBytes = 0
    for slot in slots(where: { _ in true }) {
      spots[slot] = .nowhere
      dropLargeValue(slot, &consequence)
    }
  }

  private func slots(where isIncluded: (Slot) -> Bool) -> [Slot] {
    var slots: [Slot] = []
    order.forEach { if isIncluded($0) { slots.append($0) } }
    return slots
  }

  private mutating func dropAll(_ slots: [Slot], _ consequence: inout Consequence) {
    for slot in slots {
      if let telling = drop(slot, &consequence) { consequence.evicted.append(telling) }
    }
  }

  private mutating func keep(_ telling: Told, cost: Int, _ slot: Slot?) -> Consequence {
    var consequence = Consequence()
    consequence.isToBeWritten = true
    guard cost <= costLimit, makeRoom(for: telling.hash, cost, besides: slot, &consequence) else {
      statistics.rejections += 1
      if telling.revision > .none { told.remember(telling.hash.whole, telling.revision) }
      if let slot = self.slot(of: telling.hash) {
        supersede(drop(slot, &consequence), &consequence)
      }
      // A value that can't be kept is written as its key's removal.
      telling.isVoid = true
      return consequence
    }
    statistics.insertions += 1
    if let slot = self.slot(of: telling.hash) {
      supersede(takeTelling(slot), &consequence)
      put(telling, slot)
      if let old = consequence.superseded { overtake(old, by: telling, slot) }
      order.reweighed(slot, weight: cost)
      order.used(slot, telling.hash.bits)
    } else {
      put(telling, add(telling.hash, cost))
    }
    largeBytes += telling.largeLength
    return consequence
  }

  /// Notes what a telling takes the place of: a file that was streamed for it, and of which no record
  /// will tell, is not needed any more.
  private func supersede(_ old: Told?, _ consequence: inout Consequence) {
    consequence.superseded = old
    if let old, !old.isTaken, let file = old.file { consequence.files.append(file.number) }
  }

  /// Lets others go, until there is room; false if the newcomer is not worth it.
  private mutating func makeRoom(
    for hash: KeyHash, _ cost: Int, besides slot: Slot?, _ consequence: inout Consequence
  ) -> Bool {
    var isWithoutContest = true
    var tries = count
    while totalCost - presentCost(of: hash, slot) > costLimit - cost {
      if isWithoutContest, slot == nil, !order.admits(hash.bits, weight: cost) { return false }
      isWithoutContest = false
      let victims = order.chooseVictims(for: cost)
      if victims.isEmpty || tries < 0 { return false }
      for victim in CollectionOfOne(victims.first) + victims.others {
        tries -= 1
        evict(victim, &consequence)
      }
    }
    if isWithoutContest { order.settle() }
    return true
  }

  private func presentCost(of hash: KeyHash, _ slot: Slot?) -> Int {
    // The entry that gets a new value may be among those who went.
    guard let slot, hashes[slot] == hash, self.slot(of: hash) != nil else { return 0 }
    return order.weight(of: slot)
  }

  private mutating func evict(_ victim: Slot, _ consequence: inout Consequence) {
    if let value = largeValues[victim], leases[value.number] != nil {
      // Somebody holds its file: it goes to the end of the line.
      let (hash, cost) = (hashes[victim], order.weight(of: victim))
      order.removed(victim)
      order.added(victim, hash.bits, weight: cost)
      return
    }
    statistics.evictions += 1
    if let telling = drop(victim, &consequence) { consequence.evicted.append(telling) }
  }

  private func revision(of slot: Slot) -> Revision {
    telling(of: slot)?.revision
      ?? (Int(slot) < revisions.count ? revisions[slot] : .none)
  }

  /// Takes an entry out.
  ///
  /// - Returns: What was on its way.
  private mutating func drop(_ slot: Slot, _ consequence: inout Consequence) -> Told? {
    let telling = takeTelling(slot)
    telling?.underway?.slot = -1
    telling?.underway = nil
    liveBytes -= Int(spots[slot].size)
    spots[slot] = .nowhere
    dropLargeValue(slot, &consequence)
    slots.remove(hashes[slot].bits, slot)
    order.removed(slot)
    freeSlots.append(slot)
    return telling
  }

  private func telling(of slot: Slot) -> Told? {
    Int(slot) < tellings.count ? tellings[Int(slot)] : nil
  }

  private mutating func put(_ telling: Told, _ slot: Slot) {
    while tellings.count <= Int(slot) { tellings.append(nil) }
    tellings[Int(slot)] = telling
    telling.slot = slot
  }

  /// What was on its way, and is not the entry's any more.
  private mutating func takeTelling(_ slot: Slot) -> Told? {
    guard let telling = telling(of: slot) else { return nil }
    tellings[Int(slot)] = nil
    telling.slot = -1
    largeBytes -= telling.largeLength
    return telling
  }

  /// What is being written already stays the entry's: if what came after it can't be written, it is
  /// what was there before.
  private func overtake(_ old: Told, by telling: Told, _ slot: Slot) {
    if old.isTaken {
      old.slot = slot
      telling.underway = old
    } else {
      telling.underway = old.underway
      old.underway = nil
    }
  }

  private mutating func dropLargeValue(_ slot: Slot, _ consequence: inout Consequence) {
    guard let value = largeValues.removeValue(forKey: slot) else { return }
    largeBytes -= value.count
    if leases[value.number] == nil {
      consequence.files.append(value.number)
    } else {
      doomed.insert(value.number)
    }
  }

  private mutating func add(_ hash: KeyHash, _ cost: Int) -> Slot {
    let slot = open(hash)
    order.added(slot, hash.bits, weight: cost)
    return slot
  }

  /// A slot for a key that has none.
  private mutating func open(_ hash: KeyHash) -> Slot {
    let slot = freeSlots.popLast() ?? grow()
    hashes.put(hash, at: slot)
    spots.put(.nowhere, at: slot)
    if Int(slot) < revisions.count { revisions[slot] = .none }
    slots.insert(hash.bits, slot)
    return slot
  }

  private mutating func grow() -> Slot {
    if hashes.count == hashes.capacity { reserve(max(256, hashes.count * 2)) }
    return Slot(hashes.count)
  }

  /// Makes room in memory for so many entries.
  mutating func reserve(_ capacity: Int) {
    hashes.reserve(capacity)
    spots.reserve(capacity)
    slots.reserve(capacity)
    order.reserve(capacity, expected: capacity)
  }
}

// MARK: - Writing

extension DiskIndex {
  /// Notes that a record of `telling` lies at `spot` now.
  mutating func settle(_ telling: Told, at spot: Spot, _ files: inout [UInt64]) {
    var consequence = Consequence()
    defer { files += consequence.files }
    guard telling.slot >= 0 else {
      if let file = telling.file { consequence.files.append(file.number) }
      return
    }
    let slot = telling.slot
    let isOvertaken = endUnderway(telling, slot)
    if !isOvertaken { _ = takeTelling(slot) }
    dropLargeValue(slot, &consequence)
    if let file = telling.file {
      largeValues[slot] = file
      largeBytes += file.count
    }
    liveBytes += Int(spot.size) - Int(spots[slot].size)
    spots[slot] = spot
    while revisions.count <= Int(slot) { revisions.append(.none) }
    revisions[slot] = telling.revision
    if isOvertaken { return }
    // A sealed value may be larger than it was.
    let cost = DiskLimits.cost(recordSize: Int(spot.size), large: telling.file?.count ?? 0)
    if cost != order.weight(of: slot) { order.reweighed(slot, weight: cost) }
  }

  /// Whether something later has been told for the entry, which has no more to wait for then.
  private func endUnderway(_ telling: Told, _ slot: Slot) -> Bool {
    guard let later = self.telling(of: slot), later !== telling else { return false }
    later.underway = nil
    telling.slot = -1
    return true
  }

  /// Forgets what could not be written: what was there before is there again.
  mutating func fail(_ telling: Told, _ files: inout [UInt64]) {
    if let file = telling.file { files.append(file.number) }
    guard telling.slot >= 0 else { return }
    let slot = telling.slot
    if endUnderway(telling, slot) { return }
    _ = takeTelling(slot)
    if spots[slot].isNowhere {
      var consequence = Consequence()
      _ = drop(slot, &consequence)
      files += consequence.files
    } else {
      let length = largeValues[slot].map(\.count) ?? 0
      order.reweighed(
        slot, weight: DiskLimits.cost(recordSize: Int(spots[slot].size), large: length))
    }
  }

  /// Notes that a record has been copied, if it is still needed.
  mutating func move(_ hash: KeyHash, from old: Spot, to new: Spot) {
    guard let slot = slot(of: hash), holds(hash, at: old) else { return }
    spots[slot].segment = new.segment
    spots[slot].offset = new.offset
  }

  /// Forgets a record that turned out to be bad, or too old; false if it was another one.
  mutating func forget(_ hash: KeyHash, at spot: Spot, _ files: inout [UInt64]) -> Bool {
    guard let slot = slot(of: hash), spots[slot] == spot, telling(of: slot) == nil else {
      return false
    }
    var consequence = Consequence()
    _ = drop(slot, &consequence)
    files += consequence.files
    return true
  }
}

extension DiskIndex {
  /// Forgets what lies in a segment that is no more.
  mutating func forget(segment: UInt32, _ files: inout [UInt64]) {
    var consequence = Consequence()
    for slot in slots(where: { spots[$0].segment == segment && !spots[$0].isNowhere }) {
      if telling(of: slot) == nil {
        _ = drop(slot, &consequence)
      } else {
        liveBytes -= Int(spots[slot].size)
        spots[slot] = .nowhere
      }
    }
    files += consequence.files
  }
}

// MARK: - Leases

extension DiskIndex {
  /// Keeps the file of a large value from being removed; false if it is not there any more.
  mutating func lease(_ hash: KeyHash, _ value: LargeValue) -> Bool {
    guard let slot = slot(of: hash), largeValues[slot]?.number == value.number else {
      return false
    }
    leases[value.number, default: 0] += 1
    order.used(slot, hash.bits)
    return true
  }

  /// Gives a lease back; true if the file is not needed any more.
  mutating func giveBack(_ number: UInt64) -> Bool {
    guard let count = leases[number] else { return false }
    leases[number] = count > 1 ? count - 1 : nil
    return count == 1 && doomed.remove(number) != nil
  }
}

// MARK: - Opening

extension DiskIndex {
  /// Takes in what the log was found to hold, in its order: a later record of a key counts.
  mutating func load(_ hash: KeyHash, _ spot: Spot, _ value: LargeValue?) {
    guard let slot = slot(of: hash) else {
      restore(hash, spot, value)
      return findRestored(from: Slot(hashes.count) - 1)
    }
    order.reweighed(
      slot, weight: DiskLimits.cost(recordSize: Int(spot.size), large: value?.count ?? 0))
    liveBytes -= Int(spots[slot].size)
    if let old = largeValues.removeValue(forKey: slot) { largeBytes -= old.count }
    place(spot, value, slot)
  }

  /// Takes in a key that is not there yet; it is found only after ``findRestored(from:)``.
  mutating func restore(_ hash: KeyHash, _ spot: Spot, _ value: LargeValue?) {
    if hashes.count == hashes.capacity { reserve(max(256, hashes.count * 2)) }
    let slot = Slot(hashes.count)
    hashes.append(hash)
    spots.append(.nowhere)
    order.restored(
      slot, hash.bits,
      weight: DiskLimits.cost(recordSize: Int(spot.size), large: value?.count ?? 0))
    place(spot, value, slot)
  }

  /// Makes that can be found what has been restored from this slot on.
  mutating func findRestored(from first: Slot = 0) {
    let hashes = hashes
    slots.insert(first..<Slot(hashes.count)) { hashes[$0].bits }
  }

  private mutating func place(_ spot: Spot, _ value: LargeValue?, _ slot: Slot) {
    spots[slot] = spot
    liveBytes += Int(spot.size)
    guard let value else { return }
    largeValues[slot] = value
    largeBytes += value.count
  }

  /// Drops what the log was found to hold no more.
  mutating func unload(_ hash: KeyHash) {
    var consequence = Consequence()
    if let slot = slot(of: hash) { _ = drop(slot, &consequence) }
  }

  mutating func unloadAll() {
    var consequence = Consequence()
    dropAll(slots(where: { _ in true }), &consequence)
  }

  /// Drops what needs a file that is not there, and then what is too much; the files that are needed.
  mutating func finishLoading(files: Set<UInt64>) -> Set<UInt64> {
    var consequence = Consequence()
    for (slot, value) in largeValues where !files.contains(value.number) {
      _ = drop(slot, &consequence)
    }
    order.settle()
    while totalCost > costLimit {
      let victims = order.chooseVictims(for: 0)
      if victims.isEmpty { break }
      for victim in CollectionOfOne(victims.first) + victims.others {
        _ = drop(victim, &consequence)
      }
    }
    return Set(largeValues.values.map(\.number))
  }
}
