import MillpondSignals
import MillpondTesting
import Testing

@Suite struct ObserverTests {
  let journal = Journal<String>()

  var observer: Observer<Int> {
    Observer(next: { [journal] in journal.write("next \($0)") }) { [journal] event in
      switch event {
      case .progress(let progress): journal.write("progress \(progress.completed)")
      case .failed(let error): journal.write("failed \(error)")
      case .completed: journal.write("completed")
      }
    }
  }

  @Test func `each method reaches its closure`() {
    observer.next(1)
    observer.progress(SignalProgress(completed: 2))
    observer.failed(Trouble.some)
    observer.completed()
    observer.other(.completed)

    #expect(
      journal.entries == ["next 1", "progress 2", "failed some", "completed", "completed"])
  }

  @Test func `an event as data reaches its closure`() {
    let events: [Event<Int>] = [
      .next(1), .progress(SignalProgress(completed: 2)), .failed(Trouble.some), .completed,
    ]
    for event in events { observer.send(event) }

    #expect(journal.entries == ["next 1", "progress 2", "failed some", "completed"])
  }

  @Test func `replacing next leaves the other events to the first observer`() {
    let other = observer.replacingNext { (text: String) in journal.write("text \(text)") }

    other.next("a")
    other.completed()

    #expect(journal.entries == ["text a", "completed"])
  }
}
