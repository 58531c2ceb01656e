import Millpond
import Testing

@Suite struct HTTPLimitsTests {
  @Test func `less than zero is zero`() {
    let limits = HTTPLimits(idleTimeout: .seconds(-1), totalTimeout: .seconds(-1), byteLimit: -1)

    #expect(limits == HTTPLimits(idleTimeout: .zero, totalTimeout: .zero, byteLimit: 0))
  }

  @Test func `the standard is what is documented`() {
    #expect(HTTPLimits.standard.idleTimeout == .seconds(60))
    #expect(HTTPLimits.standard.totalTimeout == .seconds(600))
    #expect(HTTPLimits.standard.byteLimit == 128 * 1_024 * 1_024)
  }
}
