using System.Collections.Generic;

/// <summary>
/// What a reading found: numbers by their names in messages, in the order of the message. They
/// prove the work.
/// </summary>
internal sealed class Answer
{
    private readonly List<Number> numbers = new List<Number>();

    internal IReadOnlyList<Number> Numbers => numbers;

    /// <summary>The proof of a method that visits bytes.</summary>
    internal static Answer OfBytes(Work work, long bytes, long value)
    {
        Answer answer = new Answer().With("bytes", bytes);
        return work == Work.Discard ? answer : answer.With(work.Word(), value);
    }

    /// <summary>The proof of a method that makes lines; an unterminated last one counts.</summary>
    internal static Answer OfLines(long lines) => new Answer().With("lines", lines);

    /// <summary>The proof of a method that visits decoded characters.</summary>
    internal static Answer OfNewlines(long newlines) => new Answer().With("newlines", newlines);

    /// <summary>The same with another number.</summary>
    internal Answer With(string name, long value)
    {
        numbers.Add(new Number(name, value));
        return this;
    }
}
