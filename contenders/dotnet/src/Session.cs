using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;

/// <summary>
/// The turns of a session: reads with a clock around each timed reading, and writes only after the
/// last one of a turn.
///
/// The clock is that of <see cref="Stopwatch"/>. The window is the whole of a method's reading,
/// which opens and closes (and unmaps) the target and allocates its buffers.
/// </summary>
internal sealed class Session
{
    private const int TurnWords = 3;
    private const double NanosPerSecond = 1e9;

    private readonly Request request;
    private readonly TextWriter say;

    internal Session(Request request, TextWriter say)
    {
        this.request = request;
        this.say = say;
    }

    /// <summary>Serves turns until the end of the input.</summary>
    internal void Serve(TextReader turns)
    {
        say.WriteLine(Say.Ready(request.Params));
        say.Flush();
        for (string? line = turns.ReadLine(); line != null; line = turns.ReadLine())
        {
            Turn(line);
        }
    }

    private void Turn(string line)
    {
        string[] words = line.Split(' ');
        uint lead = 0;
        uint count = 0;
        bool isTurn = words.Length == TurnWords && words[0] == "go"
            && TryParse(words[1], out lead) && TryParse(words[2], out count) && count > 0;
        if (!isTurn)
        {
            throw new Refusal($"expected `go LEAD COUNT` with COUNT above 0, got '{line}'");
        }
        var counts = new RuntimeCounts();
        List<Sample> samples = Read(lead, count);
        List<Count> counted = counts.End();
        // The bytes that were read are garbage now, and are collected before the turn ends.
        GC.Collect();
        samples.ForEach(sample => say.WriteLine(Say.Sample(sample)));
        counted.ForEach(one => say.WriteLine(Say.Count(one)));
        say.WriteLine(Say.Done(count));
        say.Flush();
    }

    private static bool TryParse(string word, out uint value) =>
        uint.TryParse(word, NumberStyles.None, CultureInfo.InvariantCulture, out value);

    private List<Sample> Read(uint lead, uint count)
    {
        try
        {
            for (uint i = 0; i < lead; i++)
            {
                request.Method.Read(request);
            }
            var samples = new List<Sample>();
            for (uint i = 0; i < count; i++)
            {
                samples.Add(Timed());
            }
            return samples;
        }
        catch (Exception failure) when (!(failure is Refusal))
        {
            throw Failure.RefusalOf(failure, request);
        }
    }

    private Sample Timed()
    {
        ProcessorTime before = ProcessorTime.Now();
        long start = Stopwatch.GetTimestamp();
        Answer answer = request.Method.Read(request);
        long ticks = Stopwatch.GetTimestamp() - start;
        ProcessorTime spent = ProcessorTime.Now().Since(before);
        return new Sample((long)(ticks * (NanosPerSecond / Stopwatch.Frequency)), spent, answer);
    }
}
