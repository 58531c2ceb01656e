/// An estimate of how often keys were recently used: four small counters for each key, shared with
/// other keys, of which the smallest counts.
///
/// It takes 8 bytes for each key, and up to 16 if the number of keys was not known in advance.
///
/// All counters of a key are in one cache line of the processor. After seven times as many uses as
/// there are entries all counters are halved, so that old uses are forgotten. Halving and changes
/// of size are done by the uses that follow, a few blocks at a time: until then a key has its
/// counters in the former memory.
///
/// - Source: count-min sketch, as in TinyLFU (Einziger, Friedman, Manes 2017). The time of halving
///   was chosen on real traces: from 6 to 8 times makes a quarter of a point of difference in the
///   mean hit ratio.
@usableFromInline
struct FrequencySketch: Sendable {
  /// The counters of the first blocks; of all of them, unless the size is changing.
  @usableFromInline var words = ChunkedArray<UInt64>()
  @usableFromInline var blocks = 0
  @usableFromInline var additions = 0

  /// The number of additions at which there is work: halving, or the next step of a change.
  @usableFromInline var due = 0
  private var additionLimit = 0

  /// The counters of the former size, while the size is changing.
  private var former = ChunkedArray<UInt64>()
  private var formerBlocks = 0

  /// The number of blocks that are wanted when the present change has ended.
  private var wantedBlocks = 0

  /// The next word to halve, and the odd counters so far; nil unless counters are being halved.
  private var halving: (next: Int, odd: Int)?

  /// The words of a block: 64 bytes.
  @usableFromInline static var blockLength: Int { 8 }

  /// The greatest number of blocks that a step makes or halves.
  static var stepLength: Int { 32 }

  @usableFromInline
  init() {}

  /// Returns the estimated number of uses, from 0 to 15.
  ///
  /// Always inlined, since a call would copy the whole sketch.
  @inline(__always)
  func frequency(_ hash: UInt32) -> Int {
    if blocks == 0 { return 0 }
    var spread = Spread(hash, blocks)
    let counters = counters(&spread)
    var lowest: UInt64 = 15
    for row in 0..<4 {
      let (word, shift) = spread.next(row)
      lowest = min(lowest, counters[word] >> shift & 15)
    }
    return Int(lowest)
  }

  /// Counts a use if none is counted yet.
  @usableFromInline
  mutating func addFirst(_ hash: UInt32) {
    if blocks == 0 { return }
    if additions >= due { work() }
    var spread = Spread(hash, blocks)
    let counters = counters(&spread)
    for row in 0..<4 {
      let (word, shift) = spread.next(row)
      if (counters[word] &>> shift) & 15 == 0 { return add(hash) }
    }
  }

  /// Counts a use.
  @inlinable
  mutating func add(_ hash: UInt32) {
    if blocks == 0 { return }
    var spread = Spread(hash, blocks)
    let counters = counters(&spread)
    var growth: UInt64 = 0
    for row in 0..<4 {
      let (word, shift) = spread.next(row)
      // One, unless the counter is full.
      let one: UInt64 = (counters[word] &>> shift) & 15 == 15 ? 0 : 1
      counters[word] &+= one &<< shift
      growth |= one
    }
    if growth > 0 {
      additions &+= 1
      if additions >= due { work() }
    }
  }

  /// Returns the block of counters of a key.
  @inlinable
  func counters(_ spread: inout Spread) -> UnsafeMutablePointer<UInt64> {
    spread.base < words.count ? words.pointer(to: spread.base) : formerCounters(spread)
  }

  @usableFromInline
  func formerCounters(_ spread: Spread) -> UnsafeMutablePointer<UInt64> {
    former.pointer(to: spread.base(formerBlocks))
  }
}

// MARK: - Halving, and changes of size, in steps

extension FrequencySketch {
  /// Prepares for `entries`, and keeps the counts.
  ///
  /// - Parameters:
  ///   - entries: The number of entries.
  ///   - expected: The number that there may be later; then the memory is exactly enough for them.
  @usableFromInline
  mutating func grow(toEntries entries: Int, expected: Int = .max) {
    additionLimit = max(10, entries &* 7)
    // A key's block is the position of its hash in the range of blocks. So when each block becomes
    // two, both get its counters; with any other factor some keys would find another block's
    // counters.
    let first = Self.firstBlocks(toBecome: expected / Self.blockLength + 1)
    wantedBlocks = blocks == 0 ? first : max(wantedBlocks, blocks)
    while wantedBlocks * (Self.blockLength + 2) < entries { wantedBlocks *= 2 }
    if blocks == 0 {
      words = ChunkedArray(repeating: 0, count: wantedBlocks * Self.blockLength)
      blocks = wantedBlocks
    }
    work()
  }

  /// Prepares for fewer entries than before: two blocks become one while that suffices.
  @usableFromInline
  mutating func shrink(toEntries entries: Int) {
    additionLimit = max(10, entries &* 7)
    wantedBlocks = blocks
    while wantedBlocks.isMultiple(of: 2), wantedBlocks / 2 * Self.blockLength > entries {
      wantedBlocks /= 2
    }
    work()
  }

  /// Returns a number below 32 that becomes `blocks`, or a few more, by doubling.
  private static func firstBlocks(toBecome blocks: Int) -> Int {
    var first = blocks
    while first >= 32 { first = (first + 1) / 2 }
    return first
  }

  /// Does a step of the present change, or begins the next one.
  @usableFromInline
  mutating func work() {
    if halving != nil {
      halveStep()
    } else if formerBlocks > 0 {
      resizeStep()
    } else if wantedBlocks != blocks {
      beginResizing()
      resizeStep()
    } else if additions >= additionLimit {
      halving = (0, 0)
      halveStep()
    }
    let isAtRest = halving == nil && formerBlocks == 0 && wantedBlocks == blocks
    due = isAtRest ? additionLimit : 0
  }

  private mutating func beginResizing() {
    (former, formerBlocks) = (words, blocks)
    words = ChunkedArray()
    blocks = wantedBlocks > blocks ? blocks * 2 : blocks / 2
  }

  private mutating func resizeStep() {
    let first = words.count / Self.blockLength
    let isGrowing = blocks > formerBlocks
    for block in first..<min(blocks, first + Self.stepLength) {
      // A block lies in one chunk, before and after.
      let target = words.extend(by: Self.blockLength)
      let source = former.pointer(to: (isGrowing ? block / 2 : block * 2) * Self.blockLength)
      if isGrowing {
        target.update(from: source, count: Self.blockLength)
      } else {
        let second = former.pointer(to: (block * 2 + 1) * Self.blockLength)
        for word in 0..<Self.blockLength { target[word] = Self.greater(source[word], second[word]) }
      }
    }
    if words.count == blocks * Self.blockLength { (former, formerBlocks) = (ChunkedArray(), 0) }
  }

  private mutating func halveStep() {
    guard let (next, former) = halving else { return }
    let end = min(words.count, next + Self.stepLength * Self.blockLength)
    var odd = former
    for index in next..<end {
      odd += (words[index] & 0x1111_1111_1111_1111).nonzeroBitCount
      words[index] = words[index] >> 1 & 0x7777_7777_7777_7777
    }
    halving = (end, odd)
    guard end == words.count else { return }
    halving = nil
    additions = max(0, (additions - odd / 4) / 2)
  }

  /// Returns the greater ones of the counters in two words.
  private static func greater(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let low: UInt64 = 0x0F0F_0F0F_0F0F_0F0F
    return greaterBytes(first & low, second & low)
      | greaterBytes(first >> 4 & low, second >> 4 & low) << 4
  }

  /// Returns the greater ones of bytes below 128.
  private static func greaterBytes(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let difference = (first | 0x8080_8080_8080_8080) - second
    let isFirst = (difference >> 7 & 0x0101_0101_0101_0101) * 0xFF
    return first & isFirst | second & ~isFirst
  }
}

/// The positions of a key's counters: the first word of their block, and their words and bits in
/// it.
@usableFromInline
@frozen
struct Spread {
  @usableFromInline let base: Int
  @usableFromInline let position: UInt64
  @usableFromInline var bits: UInt32

  @inlinable
  init(_ hash: UInt32, _ blocks: Int) {
    var mixed = UInt64(hash) &* 0x9E37_79B9_7F4A_7C15
    mixed ^= mixed >> 32
    mixed = mixed &* 0xD6E8_FEB8_6659_FD93
    position = mixed >> 32
    base = Int((position &* UInt64(blocks)) >> 32) &* 8
    bits = UInt32(truncatingIfNeeded: mixed)
    bits ^= bits >> 15
  }

  /// Returns the first word of the block in a sketch of another size.
  func base(_ blocks: Int) -> Int {
    Int((position &* UInt64(blocks)) >> 32) &* 8
  }

  @inlinable
  mutating func next(_ row: Int) -> (word: Int, shift: UInt64) {
    let (word, shift) = (row &* 2 &+ Int(bits & 1), UInt64((bits &>> 1) & 15) &* 4)
    bits >>= 8
    return (word, shift)
  }
}
