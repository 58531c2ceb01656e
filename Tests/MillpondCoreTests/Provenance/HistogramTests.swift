import MillpondCore
import Testing

@Suite struct HistogramTests {
  @Test func `of nothing every quantile is zero`() {
    #expect(Histogram().quantile(0.5) == .zero)
    #expect(Histogram().count == 0)
  }

  @Test func `a quantile is a bound that is at most a sixteenth more`() {
    var histogram = Histogram()
    for milliseconds in 1...100 { histogram.add(.milliseconds(milliseconds)) }

    for share in [0.01, 0.5, 0.9, 0.99] {
      let exact = Duration.milliseconds(Int((share * 100).rounded(.up)))
      #expect(histogram.quantile(share) >= exact)
      #expect(histogram.quantile(share) <= exact * 17 / 16)
    }
    #expect(histogram.quantile(1) == .milliseconds(100))
    #expect(histogram.longest == .milliseconds(100))
  }

  @Test func `the median is near most durations, however long the longest is`() {
    var histogram = Histogram()
    for _ in 0..<19 { histogram.add(.milliseconds(300)) }
    histogram.add(.seconds(1))

    #expect((.milliseconds(300) ... .milliseconds(318)).contains(histogram.quantile(0.5)))
  }

  @Test func `every duration is in a bucket of its own size`() {
    for bits in 0..<62 {
      for nanoseconds in [1 << bits, (1 << bits) * 3 / 2, (1 << bits) * 2 - 1] {
        var histogram = Histogram()
        histogram.add(.nanoseconds(nanoseconds))
        histogram.add(.nanoseconds(Int64.max))
        let bound = histogram.quantile(0.5)
        #expect(bound >= .nanoseconds(nanoseconds))
        #expect(bound <= .nanoseconds(nanoseconds + nanoseconds / 16))
      }
    }
  }

  @Test func `a duration out of bounds counts as the bound`() {
    var histogram = Histogram()
    histogram.add(.seconds(-5))
    histogram.add(Duration(secondsComponent: .max, attosecondsComponent: 0))

    #expect(histogram.count == 2)
    #expect(histogram.quantile(-1) == .zero)
    #expect(histogram.quantile(.nan) >= .zero)
    #expect(histogram.quantile(7) > .seconds(1_000_000_000))
  }
}
