import MillpondTesting
import Testing

@testable import MillpondCore

@Suite struct FrequencySketchTests {
  private func sketch(entries: Int) -> FrequencySketch {
    var sketch = FrequencySketch()
    sketch.grow(toEntries: entries)
    return sketch
  }

  /// Hashes as keys have them.
  private func hashes(_ count: Int) -> [UInt32] {
    var random = SeededGenerator(seed: 1)
    return (0..<count).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
  }

  @Test func `without room nothing is counted`() {
    var sketch = FrequencySketch()

    sketch.add(1)

    #expect(sketch.frequency(1) == 0)
  }

  @Test func `a key is counted up to fifteen`() {
    var sketch = sketch(entries: 1_000)
    var counts: [Int] = []

    for _ in 0..<20 {
      sketch.add(7)
      counts.append(sketch.frequency(7))
    }

    #expect(counts == Array(1...15) + Array(repeating: 15, count: 5))
  }

  @Test func `a key is never counted less often than it was asked for`() {
    var sketch = sketch(entries: 1_000)
    let hashes = hashes(500)

    for (number, hash) in hashes.enumerated() {
      for _ in 0..<(number % 10) { sketch.add(hash) }
    }

    #expect(hashes.enumerated().allSatisfy { sketch.frequency($1) >= $0 % 10 })
    let excess = hashes.enumerated().reduce(0) {
      $0 + sketch.frequency($1.element) - $1.offset % 10
    }
    #expect(excess < 100)
  }

  @Test(arguments: [100, 20_000])
  func `after seven uses an entry a key is counted half as often`(entries: Int) {
    var sketch = sketch(entries: entries)
    for _ in 0..<9 { sketch.add(7) }
    sketch.additions = entries * 7

    sketch.add(8)
    finish(&sketch)

    #expect(sketch.frequency(7) == 4)
  }

  @Test func `no use halves, copies or joins more than a few blocks`() {
    var sketch = sketch(entries: 20_000)
    for hash in hashes(20_000) { for _ in 0..<3 { sketch.add(hash) } }
    let words = Array(sketch.words)

    sketch.additions = 140_000
    sketch.add(1)
    let halved = zip(words, sketch.words).count { $0 != $1 }
    // The use itself changes up to four.
    #expect((1...Self.stepWords + 4).contains(halved))

    finish(&sketch)
    sketch.grow(toEntries: 200_000)
    #expect(sketch.words.count == Self.stepWords)
    sketch.add(1)
    #expect(sketch.words.count == 2 * Self.stepWords)

    finish(&sketch)
    sketch.shrink(toEntries: 20_000)
    #expect(sketch.words.count == Self.stepWords)
  }

  @Test func `while the size changes, and afterwards, it knows all that it knew`() {
    var sketch = sketch(entries: 20_000)
    let hashes = hashes(2_000)
    for hash in hashes { for _ in 0..<3 { sketch.add(hash) } }
    func forgotten() -> Int { hashes.count { sketch.frequency($0) < 3 } }
    let length = sketch.words.count

    sketch.grow(toEntries: 100_000)
    for _ in 0..<10 { sketch.work() }
    #expect(sketch.words.count < length && forgotten() == 0)
    finish(&sketch)
    #expect(sketch.words.count > 4 * length && forgotten() == 0)

    sketch.shrink(toEntries: 20_000)
    for _ in 0..<10 { sketch.work() }
    #expect(forgotten() == 0)
    finish(&sketch)
    #expect(sketch.words.count <= 2 * length && forgotten() == 0)
  }

  @Test func `of two counters that become one the greater one counts`() {
    var sketch = FrequencySketch()
    sketch.grow(toEntries: 40, expected: 0)
    let hashes = (0..<40 as Range<UInt32>).map { $0 &* 0x0765_4321 }
    for (number, hash) in hashes.enumerated() { for _ in 0..<number % 15 { sketch.add(hash) } }
    let counts = hashes.map { sketch.frequency($0) }

    sketch.shrink(toEntries: 1)
    finish(&sketch)

    #expect(sketch.blocks == 1)
    #expect(zip(hashes, counts).allSatisfy { sketch.frequency($0) >= $1 })
    #expect(hashes.allSatisfy { sketch.frequency($0) <= counts.max() ?? 0 })
  }

  private static let stepWords = FrequencySketch.stepLength * FrequencySketch.blockLength

  /// Does the work that the uses that follow would do.
  private func finish(_ sketch: inout FrequencySketch) {
    while sketch.due == 0 { sketch.work() }
  }

  @Test func `after seven askings an entry all are halved, and more can be counted`() {
    var sketch = sketch(entries: 100)
    for _ in 0..<15 { sketch.add(7) }

    for hash in hashes(685) { sketch.add(hash) }

    #expect((7...8).contains(sketch.frequency(7)))
    #expect(sketch.additions < 350)
  }

  @Test(arguments: [(8, 12), (8, 16), (100, 150), (150, 225), (1_000, 1_500), (1_000, 4_000)])
  func `larger, it knows all that it knew`(before: Int, after: Int) {
    var sketch = sketch(entries: before)
    let hashes = hashes(before / 2)
    for hash in hashes { for _ in 0..<3 { sketch.add(hash) } }

    sketch.grow(toEntries: after)

    let forgotten = hashes.filter { sketch.frequency($0) < 3 }
    #expect(forgotten.isEmpty)
  }

  @Test func `grown by and by, it neither forgets nor makes up much`() {
    var sketch = FrequencySketch()
    var capacity = 8
    let hashes = hashes(4_000)

    for (number, hash) in hashes.enumerated() {
      if number == capacity { capacity += capacity / 2 }
      sketch.grow(toEntries: capacity)
      sketch.add(hash)
    }

    let counts = hashes.map { sketch.frequency($0) }
    #expect(counts.allSatisfy { $0 >= 1 })
    #expect(counts.reduce(0, +) < 2 * counts.count)
  }

  @Test func `it does not become smaller`() {
    var sketch = sketch(entries: 1_000)
    sketch.add(7)
    let length = sketch.words.count

    sketch.grow(toEntries: 10)

    #expect(sketch.words.count == length && sketch.frequency(7) == 1)
  }

  @Test(arguments: [1, 10, 125, 1_000])
  func `keys are spread over all blocks, and over all counters of a block`(blocks: Int) {
    var taken = Array(repeating: 0, count: blocks)
    var counters = Array(repeating: 0, count: 128)

    for hash in hashes(blocks * 100) {
      var spread = Spread(hash, blocks)
      taken[spread.base / 8] += 1
      for row in 0..<4 {
        let (word, shift) = spread.next(row)
        counters[word * 16 + Int(shift) / 4] += 1
        #expect(word / 2 == row && shift < 64)
      }
    }

    #expect(taken.allSatisfy { (40...180).contains($0) } || blocks == 1)
    if blocks >= 125 {
      let mean = blocks * 400 / 128
      #expect(counters.allSatisfy { (mean / 2...mean * 2).contains($0) })
    }
  }

  @Test func `neighbouring hashes are spread as well`() {
    let blocks = 100

    let bases = Set((0..<1_000).map { Spread(UInt32($0), blocks).base })

    #expect(bases.count > 90 && bases.allSatisfy { (0..<blocks * 8).contains($0) })
  }
}
