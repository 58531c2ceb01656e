import Foundation
import MillpondCore
import MillpondSignals
import MillpondTesting
import TestTraits
import Testing

@testable import MillpondInspector

/// The page in a real browser.
@Suite(
  .enabled(if: Browser.path != nil, "no Chromium is installed: the page itself is not tested"),
  .serialized, .timeLimit(.minutes(5)))
struct BrowserTests {
  static let hostile = "<img src=x onerror=alert(1)>\u{202e}\"'"

  /// Memory over a slow origin, with a thousand gets a second while a page is open.
  final class Scene: Sendable {
    let memory = MemoryCache<String, Int>(countLimit: 12_000)
    let disk = MemoryCache<String, Int>(costLimit: 100_000) { _ in 7 }
    let origin = TestOrigin<String, Int>()
    let waiting = DisposableBag()
    private let made = Locked(0)

    /// The number of looks at the composition, each of which makes gets.
    var looks: Int { made.withLock { $0 } / 250 }

    init() {
      for key in 0..<10_000 { memory.set(key, for: "pictures/\(key).png") }
      for key in 0..<2_000 { disk.set(key, for: "films/\(key)") }
    }

    var layers: AnyCache<String, Int> {
      AnyCache(
        memory.named("memory").layered(
          over: disk.named("disk").layered(over: origin.limited(to: 6).named("network"))
            .reusingInFlight()))
    }

    /// A cache that makes 250 gets at each of the four looks a second.
    var cache: some Cache<String, Int> {
      let cache = layers.monitored(by: CacheMonitor(active: .whileObserved))
      for caller in 0..<3 { cache.get("slow/\(caller / 2)").subscribe().disposed(by: waiting) }
      return InspectorTests.Looked(base: cache) { [made] in
        let first = made.withLock { made in
          made += 250
          return made
        }
        for get in first..<(first + 250) { cache.get(Self.key(get)).subscribe() }
      }
    }

    static func key(_ get: Int) -> String {
      switch get % 10 {
      case 0: "films/\(get % 3_000)"
      case 1 where get % 100 == 1: hostile
      default: "pictures/\(get * 7_919 % 10_000).png"
      }
    }
  }

  let scene = Scene()

  func page(allowing: Set<InspectorPermission>) throws -> (inspector: Inspector, Browser) {
    let inspector = try Inspector(
      scene.cache, title: "Ten thousand \(Self.hostile)", allowing: allowing)
    let browser = try Browser.withNewPage()
    try browser.show(width: 1_280, height: 1_100, isDark: false)
    try browser.open(inspector.address)
    try browser.wait(until: "document.querySelectorAll('#gets li').length > 100")
    return (inspector, browser)
  }

  @Test func `ten thousand keys and a thousand gets a second fit at any width, light and dark`()
    throws
  {
    let (inspector, browser) = try page(allowing: [.removing, .trimming])
    defer { inspector.stop() }
    let gets = "Number(document.getElementById('get-count').textContent.replace(/[^0-9]/g, ''))"
    try browser.wait(until: "\(gets) > 5000")
    let shown = try browser.evaluate(gets)

    for (width, isDark) in [(1_280, false), (1_280, true), (768, false), (320, false), (320, true)]
    {
      try browser.show(width: width, height: width > 400 ? 1_100 : 1_700, isDark: isDark)
      let overflow = try browser.evaluate("document.documentElement.scrollWidth - innerWidth")
      #expect((Int(overflow) ?? 1) <= 0, "at \(width)")
      try photograph(browser, "\(width)-\(isDark ? "dark" : "light")")
    }

    #expect(try browser.evaluate("document.querySelectorAll('#gets li').length") == "200")
    #expect((try Int(browser.evaluate("document.querySelectorAll('*').length")) ?? .max) < 4_000)
    #expect(try browser.evaluate("document.querySelectorAll('img').length") == "0")
    #expect(try browser.evaluate("document.getElementById('state').textContent") == "live")
    #expect(try browser.evaluate("document.body.textContent.includes('films/')") == "true")
    #expect(try browser.evaluate("document.querySelectorAll('#flights li').length") != "0")
    try browser.wait(until: "\(gets) > \(shown)")

    // The page keeps a thousand of the gets that it was sent.
    try filter(browser, "/")
    let matching = "document.getElementById('get-count').textContent.split('; ')[1]"
    let kept = try browser.evaluate("Number(\(matching).replace(/[^0-9]/g, ''))")
    #expect((Int(kept) ?? .max) <= 1_000)
    #expect(browser.complaints == [])
  }

  func filter(_ browser: Browser, _ text: String) throws {
    try browser.run(
      """
      document.getElementById("filter").value = "\(text)";
      document.getElementById("filter").dispatchEvent(new Event("input"));
      """)
  }

  @Test func `of many layers the first twelve have a line in the chart`() throws {
    let layers = (0..<20).map { AnyCache(MemoryCache<String, Int>(countLimit: 9).named("\($0)")) }
    let inspector = try Inspector(AnyCache(layering: layers))
    defer { inspector.stop() }
    let browser = try Browser.withNewPage()
    try browser.open(inspector.address)

    try browser.wait(until: "document.querySelectorAll('.part.store').length == 20")

    #expect(try browser.evaluate("document.querySelectorAll('#legend li').length") == "12")
    #expect(browser.complaints == [])
  }

  @Test func `a page that found no room is live when there is some`() throws {
    let inspector = try Inspector(scene.memory)
    defer { inspector.stop() }
    let others = try (0..<OpenPages.limit).map { _ in try InspectorTests().states(of: inspector) }
    for (client, _) in others { _ = InspectorTests().nextState(client) }
    let browser = try Browser.withNewPage()
    try browser.open(inspector.address)
    let state = "document.getElementById('state')?.textContent"
    try browser.wait(until: "\(state)?.startsWith('not connected')")

    for (client, _) in others { client.hangUp() }

    try browser.wait(until: "\(state) === 'live'")
  }

  /// Leaves a picture in the folder that `MILLPOND_SCREENSHOTS` names, if it does.
  func photograph(_ browser: Browser, _ name: String) throws {
    guard let folder = ProcessInfo.processInfo.environment["MILLPOND_SCREENSHOTS"] else { return }
    try browser.photograph(to: URL(filePath: folder).appending(path: "\(name).png"))
  }

  @Test func `everything that can be used has a name and can be reached with the keyboard`() throws
  {
    let (inspector, browser) = try page(allowing: [.removing, .trimming])
    defer { inspector.stop() }

    let nameless = """
      [...document.querySelectorAll("button, input, [role=meter], [role=img], section")].filter(
        (element) => !element.closest("[hidden]") && !element.ariaLabel
          && !element.getAttribute("aria-labelledby") && !(element.labels || []).length
          && !element.textContent.trim()).map((element) => element.outerHTML).join()
      """
    #expect(try browser.evaluate(nameless) == "")
    let unreachable = """
      [...document.querySelectorAll("button, input, .rows")].filter(
        (element) => element.tabIndex < 0).length
      """
    #expect(try browser.evaluate(unreachable) == "0")
    #expect(try browser.evaluate("document.documentElement.lang") == "en")
    #expect(browser.complaints == [])
  }

  @Test func `it can be paused and goes on`() throws {
    let (inspector, browser) = try page(allowing: [])
    defer { inspector.stop() }
    try browser.click("#pause")
    #expect(try browser.evaluate("document.getElementById('state').textContent") == "paused")
    let text = "document.querySelector('main').textContent"
    try browser.run("paused = \(text)")
    let count = scene.looks

    while scene.looks < count + 3 {
      #expect(try browser.evaluate("paused === \(text)") == "true")
    }

    try browser.click("#pause")
    try browser.wait(until: "paused !== \(text)")
    #expect(browser.complaints == [])
  }

  @Test(arguments: ["#gets button", "#gets"])
  func `the latest gets stand still while the keyboard is among them, and then go on`(
    focused: String
  ) throws {
    let (inspector, browser) = try page(allowing: [.removing])
    defer { inspector.stop() }
    let (gets, focus) = ("document.getElementById('gets').textContent", "focusVisible: true")
    try browser.run("document.querySelector('\(focused)').focus({ \(focus) }); held = \(gets)")
    let count = scene.looks

    while scene.looks < count + 3 {
      #expect(try browser.evaluate("held === \(gets)") == "true")
    }
    let note = "document.getElementById('gets-note').textContent"
    try browser.wait(until: "\(note).includes('stands still')")

    try browser.run("document.activeElement.blur()")
    try browser.wait(until: "held !== \(gets)")
    #expect(browser.complaints == [])
  }

  @Test func `gets and flights are filtered by key`() throws {
    let (inspector, browser) = try page(allowing: [])
    defer { inspector.stop() }

    try filter(browser, "FILMS/")
    let keys = "[...document.querySelectorAll('#gets .key')].map((key) => key.textContent)"
    #expect(try browser.evaluate("\(keys).every((key) => key.includes('films/'))") == "true")
    #expect(try browser.evaluate("\(keys).length") != "0")
    #expect(try browser.evaluate("\(keys).length") != "200")
    #expect(browser.complaints == [])
  }

  @Test func `a key is removed and a layer trimmed where that is allowed`() throws {
    let (inspector, browser) = try page(allowing: [.removing, .trimming])
    defer { inspector.stop() }

    try browser.run(
      """
      document.getElementById("removed-key").value = "pictures/1.png";
      document.querySelector("#removal button").click();
      """)
    try browser.wait(until: "document.getElementById('outcome').textContent.endsWith('removed')")
    #expect(scene.memory.peek("pictures/1.png") == nil)
    #expect(scene.memory.peek("pictures/2.png") == 2)

    try browser.click(".trims button")
    try browser.wait(until: "document.getElementById('outcome').textContent.endsWith('trimmed')")
    #expect(scene.memory.count <= 6_000)
    #expect(browser.complaints == [])
  }

  @Test func `nothing that changes anything is offered without permission`() throws {
    let (inspector, browser) = try page(allowing: [])
    defer { inspector.stop() }
    #expect(try browser.evaluate("document.querySelectorAll('.trims, .rows button').length") == "0")
    #expect(try browser.evaluate("document.getElementById('removal').hidden") == "true")
    let refusal = "fetch('remove', { method: 'POST', body: '{\"key\":\"a\"}' })"
    #expect(try browser.evaluate("\(refusal).then((answer) => answer.status)") == "403")
  }

  @Test func `the page says when the program has ended`() throws {
    let (inspector, browser) = try page(allowing: [])
    inspector.stop()
    try browser.wait(
      until: "document.getElementById('state').textContent.startsWith('not connected')")
  }
}
