import Testing

@testable import MillpondCore

@Suite struct PressureThresholdsTests {
  private func used(_ perCent: Int) -> MemoryReadings {
    MemoryReadings(room: MemoryUse(used: perCent, limit: 100), stall: nil)
  }

  private func stalled(_ some: Double, _ full: Double) -> MemoryReadings {
    let text = "some avg10=\(some) total=0\nfull avg10=\(full) total=0\n"
    return MemoryReadings(room: nil, stall: MemoryStall(pressure: text))
  }

  private func levels(_ looks: [MemoryReadings]) -> [MemoryPressure?] {
    var judge = PressureDetector()
    return looks.map { readings in
      let isKnown = judge.received(readings)
      return isKnown ? judge.level : .critical
    }
  }

  @Test(
    arguments: [
      (0, nil), (89, nil), (90, .warning), (94, .warning), (95, .critical), (100, .critical),
      (250, .critical),
    ] as [(Int, MemoryPressure?)])
  func `memory is short from 90 per cent of use, and critically from 95`(
    perCent: Int, level: MemoryPressure?
  ) {
    #expect(levels([used(perCent)]) == [level])
  }

  @Test(
    arguments: [
      (0, 0, nil), (9.99, 0, nil), (10, 0, .warning), (100, 9.99, .warning), (10, 10, .critical),
      (100, 100, .critical),
    ] as [(Double, Double, MemoryPressure?)])
  func `memory is short when some wait for a tenth of the time, and critically when all do`(
    some: Double, full: Double, level: MemoryPressure?
  ) {
    #expect(levels([stalled(some, full)]) == [level])
  }

  @Test func `the worse of the two counts`() {
    var readings = stalled(50, 50)
    readings.room = MemoryUse(used: 1, limit: 100)

    #expect(levels([readings]) == [.critical])
    readings.stall = MemoryStall(pressure: "some avg10=0 \nfull avg10=0")
    readings.room = MemoryUse(used: 92, limit: 100)
    #expect(levels([readings]) == [.warning])
  }

  @Test func `readings close to a threshold keep the level until they fall clearly below it`() {
    let looks = [90, 89, 90, 88, 87, 89].map { used($0) }

    #expect(levels(looks) == [.warning, .warning, .warning, .warning, nil, nil])
  }

  @Test func `a critical level falls to a warning, or to calm, by how far the use has fallen`() {
    #expect(levels([used(96), used(93), used(92)]) == [.critical, .critical, .warning])
    #expect(levels([used(96), used(50)]) == [.critical, nil])
    #expect(
      levels([stalled(20, 10), stalled(20, 6), stalled(6, 4), stalled(4, 4)])
        == [.critical, .critical, .warning, nil])
  }

  @Test func `a look that finds nothing leaves the level as it was`() {
    var judge = PressureDetector()
    _ = judge.received(used(92))

    let isKnown = judge.received(MemoryReadings())

    #expect(isKnown && judge.level == .warning)
  }

  @Test func `nothing at all is known if the first look finds nothing`() {
    var judge = PressureDetector()

    let isKnown = judge.received(MemoryReadings())

    #expect(!isKnown)
  }
}
