/// A heap of numbers with the greatest on top.
struct MaxHeap {
  private var numbers: [Int] = []

  /// - Complexity: O(log *n*).
  mutating func insert(_ number: Int) {
    numbers.append(number)
    numbers.withUnsafeMutableBufferPointer { numbers in
      var place = numbers.count - 1
      while place > 0, numbers[(place - 1) / 2] < number {
        numbers[place] = numbers[(place - 1) / 2]
        place = (place - 1) / 2
      }
      numbers[place] = number
    }
  }

  /// - Complexity: O(log *n*).
  mutating func removeMax() -> Int? {
    guard let max = numbers.first, let last = numbers.popLast() else { return nil }
    if !numbers.isEmpty { sinkFromTop(last) }
    return max
  }

  private mutating func sinkFromTop(_ number: Int) {
    numbers.withUnsafeMutableBufferPointer { numbers in
      var place = 0
      while 2 * place + 1 < numbers.count {
        let (left, right) = (2 * place + 1, 2 * place + 2)
        let child = right < numbers.count && numbers[right] > numbers[left] ? right : left
        if numbers[child] <= number { break }
        numbers[place] = numbers[child]
        place = child
      }
      numbers[place] = number
    }
  }
}
