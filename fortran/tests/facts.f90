!> What docs/fortran.md promises. Prints what does not hold, and ends with 1 then.
module facts_bodies
    use polytile
    use, intrinsic :: iso_c_binding
    implicit none

contains

    !> B(i, j) = 100 i + j + A(i, j), by the views' own indices.
    subroutine number_elements(threads, views, user) bind(C)
        type(polytile_domain), intent(in) :: threads
        type(polytile_view), intent(in) :: views(*)
        type(c_ptr), value :: user
        integer(c_int32_t), pointer :: A(:, :), B(:, :), offset
        integer(c_int64_t) :: i, j
        call polytile_view_get(views(1), A)
        call polytile_view_get(views(2), B)
        call c_f_pointer(user, offset)
        do j = polytile_first(threads, 2), polytile_last(threads, 2)
            do i = polytile_first(threads, 1), polytile_last(threads, 1)
                B(i, j) = int(100 * i + j) + A(i, j) + offset
            end do
        end do
    end subroutine
end module

program facts
    use facts_bodies
    use, intrinsic :: iso_fortran_env, only: error_unit, int8, int16, int32, int64, real32, real64
    implicit none
    type(polytile_context) :: ctx
    integer :: n_failures = 0

    call polytile_context_create(ctx)
    call run_what_is_named()
    call subscripts_are_those_of_fortran()
    call sections_are_used_in_place()
    call inputs_are_wrapped()
    call bodies_are_procedures()
    call every_type_is_wrapped()
    call bounds_are_the_programs()
    call lookups_begin_with_1()
    call parameters_have_kinds()
    call names_of_parameters_are_whole()
    call checks_take_parameters()
    call queues_keep_arrays()
    call words_are_not_subscripts()
    call elements_by_macros_are_those_of_fortran()
    call macros_stay_within_sections()
    call comments_hide_no_subscripts()
    call dimensions_count_from_1()
    call what_could_be_missed_is_refused()
    call what_is_wrong_is_said()
    call polytile_context_destroy(ctx)
    if (n_failures > 0) error stop 1
    print '(a)', 'all facts are right'

contains

    subroutine expect(holds, what)
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds) return
        n_failures = n_failures + 1
        write (error_unit, '(2a)') 'does not hold: ', what
    end subroutine

    subroutine expect_refusal(stat, wanted, errmsg, part)
        integer, intent(in) :: stat, wanted
        character(*), intent(in) :: errmsg, part
        call expect(stat == wanted .and. index(errmsg, part) > 0, 'refused with "' // part // &
            '", but it says "' // trim(errmsg) // '"')
    end subroutine

    function device_of(text) result(device)
        character(*), intent(in) :: text
        type(polytile_device) :: device
        call polytile_device_open(ctx, text, device)
    end function

    function wrapped_2(name, a) result(array)
        character(*), intent(in) :: name
        real(real64), intent(inout), target :: a(:, :)
        type(polytile_array) :: array
        call polytile_array_wrap(ctx, name, a, array)
    end function

    !> A shift that is not symmetric tells rows from columns, in and out of core.
    subroutine subscripts_are_those_of_fortran()
        real(real64), target :: a(40, 30), b(40, 30), c(40, 30)
        character(20) :: devices(2) = [character(20) :: 'host', 'host(memory=6KiB)']
        type(polytile_kernel) :: shift
        integer :: i, j, k
        a = reshape([((real(100 * i + j, real64), i = 1, 40), j = 1, 30)], shape(a))
        c = 0
        do j = 2, 29
            do i = 1, 37
                c(i, j) = 2 * a(i + 3, j) - a(i, j - 1)
            end do
        end do
        call polytile_kernel_compile(ctx, 'shift[i, j]: in A[i:i+3, j], A[i, j-1]; out B[i, j]', &
            'B(i, j) = 2 * A(i + 3, j) - A(i, j - 1);', shift)
        do k = 1, size(devices)
            b = 0
            call polytile_run(device_of(trim(devices(k))), shift, polytile_bounds([1, 2], [37, 29]), &
                [wrapped_2('A', a), wrapped_2('B', b)])
            call expect(all(b == c), 'A(i + 3, j) and A(i, j - 1) on ' // trim(devices(k)))
        end do
    end subroutine

    subroutine sections_are_used_in_place()
        real(real64), target :: a(20, 12), b(7, 5)
        type(polytile_kernel) :: copy
        integer :: i, j
        a = reshape([((real(100 * i + j, real64), i = 1, 20), j = 1, 12)], shape(a))
        b = -1
        call polytile_kernel_compile(ctx, 'copy[i, j]: in A[i, j]; out B[i, j]', 'B(i, j) = A(i, j);', copy)
        call polytile_run(device_of('host(memory=1KiB)'), copy, polytile_extents(shape(b)), &
            [wrapped_2('A', a(2:14:2, 3:11:2)), wrapped_2('B', b)])
        call expect(all(b == a(2:14:2, 3:11:2)), 'a section with steps is read where it is')
        a = 0
        call polytile_run(device_of('host(memory=1KiB)'), copy, polytile_extents(shape(b)), &
            [wrapped_2('A', b), wrapped_2('B', a(2:14:2, 3:11:2))])
        call expect(all(b == a(2:14:2, 3:11:2)) .and. abs(sum(a) - sum(b)) < 1, &
            'a section with steps is written, and nothing beside it')
    end subroutine

    subroutine inputs_are_wrapped()
        real(real64), target :: a(20, 12), b(7, 5)
        a = numbered(20, 12)
        call copy_section(a(2:14:2, 3:11:2), b)
        call expect(all(b == a(2:14:2, 3:11:2)), 'an array that is intent(in) is read where it is')
    end subroutine

    subroutine copy_section(from, to)
        real(real64), intent(in), target :: from(:, :)
        real(real64), intent(out), target :: to(:, :)
        type(polytile_kernel) :: copy
        type(polytile_array) :: arrays(2)
        call polytile_kernel_compile(ctx, 'copy[i, j]: in A[i, j]; out B[i, j]', 'B(i, j) = A(i, j);', copy)
        call polytile_array_wrap(ctx, 'A', from, arrays(1))
        call polytile_array_wrap(ctx, 'B', to, arrays(2))
        call polytile_run(device_of('host'), copy, polytile_extents(shape(to)), arrays)
    end subroutine

    subroutine bodies_are_procedures()
        integer(int32), target :: a(30, 20), b(30, 20), offset
        type(polytile_kernel) :: number
        type(polytile_array) :: arrays(2)
        character(20) :: devices(2) = [character(20) :: 'host', 'host(memory=2KiB)']
        integer :: i, j, k
        offset = 7
        a = 1
        call polytile_kernel_create(ctx, 'number[i, j]: in A[i, j]; out B[i, j]', number_elements, number, &
            c_loc(offset))
        call polytile_array_wrap(ctx, 'A', a, arrays(1))
        call polytile_array_wrap(ctx, 'B', b, arrays(2))
        do k = 1, size(devices)
            b = 0
            call polytile_run(device_of(trim(devices(k))), number, polytile_extents(shape(b)), arrays)
            call expect(all(b == reshape([((100 * i + j + 8, i = 1, 30), j = 1, 20)], shape(b))), &
                'a body in Fortran has the global indices on ' // trim(devices(k)))
        end do
    end subroutine

    subroutine every_type_is_wrapped()
        integer(int8), target :: i1(5) = 3
        integer(int16), target :: i2(5) = 3
        integer(int32), target :: i4(5) = 3
        integer(int64), target :: i8(5) = 3
        real(real32), target :: r4(5) = 3
        real(real64), target :: r8(5) = 3
        complex(real32), target :: c4(5) = (3, 4)
        complex(real64), target :: c8(5) = (3, 4)
        type(polytile_array) :: x(8)
        type(polytile_kernel) :: double
        integer :: k
        call polytile_array_wrap(ctx, 'i1', i1, x(1))
        call polytile_array_wrap(ctx, 'i2', i2, x(2))
        call polytile_array_wrap(ctx, 'i4', i4, x(3))
        call polytile_array_wrap(ctx, 'i8', i8, x(4))
        call polytile_array_wrap(ctx, 'r4', r4, x(5))
        call polytile_array_wrap(ctx, 'r8', r8, x(6))
        call polytile_array_wrap(ctx, 'c4', c4, x(7))
        call polytile_array_wrap(ctx, 'c8', c8, x(8))
        call polytile_kernel_compile(ctx, 'double[i]: inout x[i]', 'x(i) = x(i) + x(i);', double)
        do k = 1, 6
            call polytile_run(device_of('host'), double, polytile_extents([5]), x(k:k))
        end do
        call expect(all(i1 == 6) .and. all(i2 == 6) .and. all(i4 == 6) .and. all(i8 == 6), 'integers')
        call expect(all(r4 == 6) .and. all(r8 == 6), 'reals')
    end subroutine

    subroutine bounds_are_the_programs()
        real(real64), target :: a(0:9)
        type(polytile_array) :: array
        type(polytile_kernel) :: number
        integer :: i
        call polytile_kernel_compile(ctx, 'number[i]: out x[i]', 'x(i) = i;', number)
        call polytile_array_wrap(ctx, 'a', a, array, lower=lbound(a))
        call polytile_run(device_of('host'), number, polytile_bounds([0], [9]), [array])
        call expect(all(a == [(i, i = 0, 9)]), 'indices begin where lower says')
        a = -1
        call polytile_array_wrap(ctx, 'a', a, array, lower=lbound(a, kind=int64))
        call polytile_run(device_of('host'), number, polytile_bounds([0_int64], [9_int64]), [array])
        call expect(all(a == [(i, i = 0, 9)]), 'indices begin where lower of 64 bits says')
    end subroutine

    !> Rows of a sparse matrix, whose index arrays count from 1.
    subroutine lookups_begin_with_1()
        integer(int32), target :: first(4) = [1, 3, 4, 6]
        real(real64), target :: values(5) = [1, 2, 3, 4, 5], rows(3)
        type(polytile_array) :: arrays(3)
        type(polytile_kernel) :: add
        call polytile_kernel_compile(ctx, 'add[i]: in V[P[i]:P[i+1]-1]; out y[i]', &
            'double s = 0; for (long k = P(i); k < P(i+1); k++) s += V(k); y(i) = s;', add)
        call polytile_array_wrap(ctx, 'V', values, arrays(1))
        call polytile_array_wrap(ctx, 'P', first, arrays(2))
        call polytile_array_wrap(ctx, 'y', rows, arrays(3))
        call polytile_run(device_of('host'), add, polytile_extents([3]), arrays)
        call expect(all(rows == [3, 3, 9]), 'index arrays hold indices that count from 1')
    end subroutine

    subroutine parameters_have_kinds()
        real(real64), target :: x(10), y(10)
        type(polytile_array) :: arrays(2)
        type(polytile_kernel) :: kernel
        x = 1
        call polytile_kernel_compile(ctx, 'k[i](f64 a, i32 b): in x[i]; out y[n+1-i]', &
            'y(n + 1 - i) = a * x(i) + b;', kernel)
        call polytile_array_wrap(ctx, 'x', x, arrays(1))
        call polytile_array_wrap(ctx, 'y', y, arrays(2))
        call polytile_run(device_of('host'), kernel, polytile_extents([10_int64]), arrays, &
            [polytile_set('a', 0.5d0), polytile_set('b', 3), polytile_set('n', 10_int64)])
        call expect(all(y == 3.5d0), 'parameters are real or whole')
    end subroutine

    !> A name that is cut would be that of another parameter.
    subroutine names_of_parameters_are_whole()
        character(*), parameter :: name = repeat('n', 63)
        real(real64), target :: x(10)
        type(polytile_array) :: array
        type(polytile_kernel) :: kernel
        integer :: stat
        character(400) :: why
        call polytile_kernel_compile(ctx, 'k[i](f64 ' // name // '): out x[i]', 'x(i) = ' // name // ';', kernel)
        call polytile_array_wrap(ctx, 'x', x, array)
        call polytile_run(device_of('host'), kernel, polytile_extents([10]), [array], &
            [polytile_set(name // '  ', 3)])
        call expect(all(abs(x - 3) < 0.5), 'a name of 63 characters')
        call polytile_run(device_of('host'), kernel, polytile_extents([10]), [array], &
            [polytile_set(name // 'n', 4)], stat, why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'there is no parameter ' // repeat('n', 60) // '...')
        call polytile_run(device_of('host'), kernel, polytile_extents([10]), [array], &
            [polytile_set(name // ' n', 4.5)], stat, why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'there is no parameter ' // repeat('n', 60) // '...')
        call expect(all(abs(x - 3) < 0.5), 'nothing runs where a name is too long')
    end subroutine

    subroutine checks_take_parameters()
        real(real64), target :: x(10), y(10)
        type(polytile_array) :: arrays(2)
        type(polytile_kernel) :: kernel
        integer :: stat
        character(300) :: why
        call polytile_kernel_compile(ctx, 'k[i]: in x[i]; inout y[i+n], y[5]', 'y(i + n) = x(i) + y(5);', kernel)
        call polytile_array_wrap(ctx, 'x', x, arrays(1))
        call polytile_array_wrap(ctx, 'y', y, arrays(2))
        call polytile_check(kernel, polytile_extents([3]), arrays, [polytile_set('n', 5)], stat, why)
        call expect(stat == POLYTILE_CONFLICT, 'all threads write y(5): ' // trim(why))
        call polytile_check(kernel, polytile_extents([1]), arrays, [polytile_set('n', 5)])
        call polytile_check(kernel, polytile_extents([3]), arrays, stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_DECLARATION, why, 'n is no index, so it is a parameter, and has no value')
        call polytile_kernel_compile(ctx, 'k[i]: in y[i+n]; out y[i]', 'y(i) = y(i + n);', kernel)
        call polytile_check(kernel, polytile_extents([3]), arrays(2:), [polytile_set('n', 3)])
        call polytile_check(kernel, polytile_extents([3]), arrays(2:), [polytile_set('n', 2)], stat, why)
        call expect_refusal(stat, POLYTILE_CONFLICT, why, 'y[3]')
    end subroutine

    subroutine queues_keep_arrays()
        real(real32), target :: a(50, 9)
        type(polytile_queue) :: queue
        type(polytile_kernel) :: add
        type(polytile_array) :: array, other
        type(polytile_report) :: report
        a = 1
        call polytile_queue_create(ctx, 'host(memory=1MiB)', queue)
        call polytile_kernel_compile(ctx, 'add[i, j]: in A[i, j]; out B[i, j]', 'B(i, j) = A(i, j) + i;', add)
        call polytile_array_wrap(ctx, 'a', a, array)
        call polytile_queue_create_array(queue, 'b', POLYTILE_F32, shape(a), other)
        call polytile_queue_attach(queue, [array])
        call polytile_queue_launch(queue, add, polytile_extents(shape(a)), [array, other])
        call polytile_queue_launch(queue, add, polytile_extents(shape(a)), [other, array])
        call polytile_queue_wait(queue)
        call polytile_queue_detach(queue, [array])
        report = polytile_queue_get_report(queue)
        call polytile_array_destroy(other)
        call polytile_queue_destroy(queue)
        call expect(all(a(1, :) == 3) .and. all(a(50, :) == 101), 'launches of a queue follow one another')
        call expect(report%h2d_bytes == 4 * size(a), 'an array stays on the device')
    end subroutine

    !> What looks like a subscript in a comment, a text or a call of C is none.
    subroutine words_are_not_subscripts()
        real(real64), target :: a(3, 4), b(3, 4)
        type(polytile_kernel) :: kernel
        integer :: i, j
        a = reshape([((real(10 * i + j, real64), i = 1, 3), j = 1, 4)], shape(a))
        call polytile_kernel_compile(ctx, 'k[i, j]: in A[i, j]; out B[i, j]', &
            '/* A(j, i) */ B(i, j) = fmax(fmin(A(i, j), 1e9), (double)(i - j)); // B(1, 2', kernel)
        call polytile_run(device_of('host'), kernel, polytile_extents(shape(a)), &
            [wrapped_2('A', a), wrapped_2('B', b)])
        call expect(all(a == b), 'only subscripts of arrays are reversed')
    end subroutine

    !> Run a kernel of A and B, of 3 x 4 elements, over all elements.
    subroutine run_over_elements(declaration, body, a, b)
        character(*), intent(in) :: declaration, body
        real(real64), intent(inout), target :: a(:, :), b(:, :)
        type(polytile_kernel) :: kernel
        call polytile_kernel_compile(ctx, declaration, body, kernel)
        call polytile_run(device_of('host'), kernel, polytile_extents(shape(a)), &
            [wrapped_2('A', a), wrapped_2('B', b)])
    end subroutine

    function numbered(n, m) result(a)
        integer, intent(in) :: n, m
        real(real64) :: a(n, m)
        integer :: i, j
        a = reshape([((real(10 * i + j, real64), i = 1, n), j = 1, m)], shape(a))
    end function

    subroutine elements_by_macros_are_those_of_fortran()
        character(*), parameter :: declaration = 'k[i, j]: in A[i, j]; out B[i, j]'
        character(*), parameter :: bodies(*) = [character(80) :: &
            'PT_AT(B, i, j) = 2 * PT_AT(A, i, j);', &
            'PT_AT(B, i, j) = 2 * A(i, j);', &
            'B(i, j) = 2 * PT_AT ( A , i , j ) ;', &
            'PT_AT(B, (i), (int64_t)(i, j)) = PT_AT(A, i, j) + A((i), (j));', &
            'B(i, j) = PT_RE(PT_C128(PT_AT(A, i, j), 1)) + PT_IM(PT_C64(1, A(i, j)));']
        real(real64), target :: a(3, 4), b(3, 4), s(4, 3), total(1)
        type(polytile_kernel) :: kernel
        type(polytile_array) :: arrays(3)
        integer :: k
        a = numbered(3, 4)
        do k = 1, size(bodies)
            b = 0
            call run_over_elements(declaration, trim(bodies(k)), a, b)
            call expect(all(b == 2 * a), 'subscripts as in ' // trim(bodies(k)))
        end do
        call polytile_kernel_compile(ctx, 'k[i, j]: in A[i, j]; out sum s[j, i]; out max t[1]', &
            'PT_SUM(PT_AT(s, j, i), PT_AT(A, i, j)); PT_MAX(t(1), A(i, j));', kernel)
        s = 0
        call polytile_array_wrap(ctx, 'A', a, arrays(1))
        call polytile_array_wrap(ctx, 's', s, arrays(2))
        call polytile_array_wrap(ctx, 't', total, arrays(3))
        call polytile_run(device_of('host'), kernel, polytile_extents(shape(a)), arrays)
        call expect(all(s == transpose(a)) .and. abs(total(1) - 34) < 0.5, 'elements that are combined into')
        call polytile_kernel_compile(ctx, 'k[i]: in A[i, :]; out s[:, i]', &
            'double t = 0; PT_SUM_RANGE(t, e, 1, 4, (), A(i, e)); ' // &
            'for (int j = 1; j <= 4; j++) PT_AT(s, j, i) = t;', kernel)
        call polytile_run(device_of('host'), kernel, polytile_extents([3]), arrays(1:2))
        call expect(all(s == spread(sum(a, dim=2), 1, 4)), 'elements in PT_SUM_RANGE')
    end subroutine

    !> Transposed subscripts would leave the sections.
    subroutine macros_stay_within_sections()
        real(real64), target :: a(20, 12), b(20, 12), c(20, 12)
        type(polytile_kernel) :: double
        integer :: k
        character(*), parameter :: bodies(*) = [character(40) :: &
            'PT_AT(B, i, j) = 2 * PT_AT(A, i, j);', 'B(i, j) = 2 * PT_AT(A, i, j);']
        a = numbered(20, 12)
        c = -1
        c(3:15:2, 2:8:3) = 2 * a(2:14:2, 3:11:4)
        do k = 1, size(bodies)
            b = -1
            call polytile_kernel_compile(ctx, 'double[i, j]: in A[i, j]; out B[i, j]', trim(bodies(k)), double)
            call polytile_run(device_of('host'), double, polytile_extents([7, 3]), &
                [wrapped_2('A', a(2:14:2, 3:11:4)), wrapped_2('B', b(3:15:2, 2:8:3))])
            call expect(all(b == c), 'nothing but the section is written by ' // trim(bodies(k)))
        end do
    end subroutine

    subroutine comments_hide_no_subscripts()
        real(real64), target :: a(3, 4), b(3, 4)
        a = numbered(3, 4)
        call run_over_elements('k[i, j]: in A [i, j]; out B[i, j]', &
            'B /* , ( */ (i, j) = PT_AT /* ) */ (A /* , */, i, j);', a, b)
        call expect(all(a == b), 'a comment between a name and its subscripts')
        b = 0
        call run_over_elements('k[i, j]: in A[i, j]; out B[i, j]', 'B(i // row, (' // new_line('a') // &
            ', j) = A(// )' // new_line('a') // 'i, j);', a, b)
        call expect(all(a == b), 'a comment that ends a line of subscripts')
    end subroutine

    !> Every macro that takes a dimension, of an array whose dimensions differ in all.
    subroutine dimensions_count_from_1()
        character(*), parameter :: bodies(*) = [character(90) :: &
            'B(i, j) = PT_EXTENT(A, 1) + 100 * PT_EXTENT(A, 2);', &
            'B(i, j) = PT_ARRAY_LAST(A, 1) + 100 * PT_ARRAY_LAST(A, 2);', &
            'B(i, j) = PT_LAST(A, 1) + 100 * PT_LAST(A, 2);', &
            'B(i, j) = PT_ARRAY_FIRST(A, 1) + 2 + 100 * (PT_ARRAY_FIRST(A, 2) + 3);', &
            'B(i, j) = PT_FIRST(A, 1) + 2 + 100 * (3 + PT_FIRST( A, 2 ));']
        character(*), parameter :: edges(*) = [character(110) :: &
            'B(i, j) = A(wrap(i - 1), j) + 2 * A(i, clamp(j + 1));', &
            'B(i, j) = PT_AT(A, PT_WRAP(A, 1, i - 1), j) + 2 * A(i, PT_CLAMP(A, 2, j + 1));', &
            'PT_AT(B, i, j) = PT_AT(A, wrap(i - 1), j) + 2 * PT_AT(A, i, clamp(j + 1));']
        real(real64), target :: a(3, 4), b(3, 4)
        integer :: k
        a = numbered(3, 4)
        do k = 1, size(bodies)
            call run_over_elements('k[i, j]: in A[:, :]; out B[i, j]', trim(bodies(k)), a, b)
            call expect(all(abs(b - 403) < 0.5), 'dimensions as in ' // trim(bodies(k)))
        end do
        do k = 1, size(edges)
            call run_over_elements('k[i, j]: in A[wrap(i-1), j], A[i, clamp(j+1)]; out B[i, j]', &
                trim(edges(k)), a, b)
            call expect(all(b == cshift(a, -1, 1) + 2 * a(:, [2, 3, 4, 4])), 'edges as in ' // trim(edges(k)))
        end do
    end subroutine

    !> Whatever could hide subscripts from being reversed is refused, with the line and what to do.
    subroutine what_could_be_missed_is_refused()
        character(*), parameter :: taking_a_dimension(*) = [character(14) :: 'PT_FIRST', 'PT_LAST', &
            'PT_ARRAY_FIRST', 'PT_ARRAY_LAST', 'PT_EXTENT', 'PT_WRAP', 'PT_CLAMP']
        integer :: k
        do k = 1, size(taking_a_dimension)
            call expect_body_refused('B(i, j) = ' // trim(taking_a_dimension(k)) // '(A, 0, 1);', &
                'k: in line 1 of the body, ' // trim(taking_a_dimension(k)) // '(A, 0): dimensions count from 1')
            call expect_body_refused('B(i, j) = ' // trim(taking_a_dimension(k)) // '(A, 3, 1);', &
                'write a plain number from 1 to 2')
            call expect_body_refused('B(i, j) = ' // trim(taking_a_dimension(k)) // '(A, i, 1);', &
                'write a plain number from 1 to 2')
            call expect_body_refused('B(i, j) = ' // trim(taking_a_dimension(k)) // '(w, 1, 1);', &
                trim(taking_a_dimension(k)) // ' takes the name of an array of the declaration')
        end do
        call expect_body_refused('B(i, j) = PT_AT((A), i, j);', 'PT_AT takes the name of an array')
        call expect_body_refused('B(i, j) = PT_AT;', 'PT_AT takes the name of an array')
        call expect_body_refused('B(i, j) =' // new_line('a') // ' *PT_ADDRESS_2(A, i, j);', &
            'k: in line 2 of the body, PT_ADDRESS_2 is no macro that bodies have')
        call expect_body_refused('B(i, j) = PT_CAT(PT_, AT)(A, i, j);', 'PT_CAT is no macro that bodies have')
        call expect_body_refused('B(i, j) = A\' // new_line('a') // '(i, j);', 'write what it joins in one line')
        call expect_body_refused("B(i, j) = 1'0 * A(i, j) + 1'0;", "a ' within a number")
        call expect_body_refused('double s = 0; PT_SUM_RANGE(s, e, 1, 4, (A), A(i, e)); B(i, j) = s;', &
            'A is an array')
        call expect_body_refused('PT_AT(B, i) = A(i, j);', 'B has 1 subscript here and 2 in the declaration')
    end subroutine

    subroutine expect_body_refused(body, part)
        character(*), intent(in) :: body, part
        type(polytile_kernel) :: kernel
        integer :: stat
        character(400) :: why
        why = ''
        call polytile_kernel_compile(ctx, 'k[i, j]: in A[:, :]; out B[i, j]', body, kernel, stat, why)
        call expect_refusal(stat, POLYTILE_DECLARATION, why, part)
    end subroutine

    subroutine what_is_wrong_is_said()
        type :: point
            real :: x, y
        end type
        real(real64), target :: a(4, 3), b(4, 3), none(0)
        real(real64), pointer :: nowhere(:)
        real(real64), target :: single
        logical, target :: flags(3)
        type(point), target :: points(3)
        type(polytile_array) :: array, other
        type(polytile_kernel) :: kernel, lower_case
        type(polytile_device) :: device
        integer :: stat, lower(2) = 1
        character(300) :: why
        a = 0
        flags = .true.
        points = point(1, 2)
        single = 1
        nullify (nowhere)
        call polytile_array_wrap(ctx, 'a', single, array, stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: it has rank 0; give an array of rank 1 to 8')
        call polytile_array_wrap(ctx, 'a', none, array, stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: dimension 1 has 0 elements')
        call polytile_array_wrap(ctx, 'a', a(:, 3:1:-1), array, stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: dimension 2 goes backwards')
        call polytile_array_wrap(ctx, 'a', points, array, stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: its elements are no real, complex or integer')
        call polytile_array_wrap(ctx, 'a', flags, array, stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: its elements are no real, complex or integer')
        call polytile_array_wrap(ctx, 'a', a, array, lower=[0], stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, &
            'a: lower has 1 number and the array has rank 2; give lower=lbound(a)')
        call polytile_array_wrap(ctx, 'a', a, array, lower=spread(0, 1, 9), stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: lower has 9 numbers and the array has rank 2')
        call polytile_array_wrap(ctx, 'a', a, array, lower=lower(:0), stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'a: lower has 0 numbers')
        call polytile_device_open(ctx, 'cpu', device, stat, why)
        call expect_refusal(stat, POLYTILE_INVALID, why, 'cpu')
        call polytile_kernel_compile(ctx, 'k[i: in x[i]', 'x;', kernel, stat, why)
        call expect_refusal(stat, POLYTILE_DECLARATION, why, '^')
        call polytile_kernel_compile(ctx, 'k[i]: in x[i]; out y[i]', 'x(i) = 1;', kernel, stat, why)
        call expect_refusal(stat, POLYTILE_DECLARATION, why, 'x')
        call polytile_kernel_compile(ctx, 'k[i, j]: in A[i, j]; out B[i, j]', 'b(i, j) = A(i, j);', lower_case)
        call polytile_array_wrap(ctx, 'A', a, array)
        call polytile_array_wrap(ctx, 'B', b, other)
        call polytile_run(device_of('host'), lower_case, polytile_extents([4, 3]), [array, other], stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_DECLARATION, why, &
            'k: in the body, b is unknown; the declaration has index j, i; array A, B (column 1)' // &
            new_line('a') // '  b(i, j) = A(j, i);' // new_line('a') // '  ^')
        call polytile_kernel_compile(ctx, 'k[i, j]: in A[i, j]; out A[i, j]', 'A(i, j) = 1;', kernel)
        call polytile_kernel_compile(ctx, 'k[i, j]: inout A[i, j]', 'a(i, j) = A(i, j);', lower_case)
        call polytile_array_wrap(ctx, 'A', a, array)
        call polytile_run(device_of('host'), lower_case, polytile_extents([4, 3]), [array], stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_DECLARATION, why, 'a is unknown')
        call polytile_array_wrap(ctx, 'A', a, array, stat=stat)
        call expect(stat == POLYTILE_OK, 'stat is 0 on success')
        call polytile_run(device_of('host'), kernel, polytile_extents([4, 3, 2]), [array], stat=stat, errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, '3 dimensions')
        call polytile_run(device_of('host'), kernel, polytile_bounds([1], [4, 3]), [array], stat=stat, errmsg=why)
        call expect(stat == POLYTILE_INVALID, 'bounds of different lengths are refused: ' // why)
        call polytile_run(device_of('host'), kernel, polytile_extents([4, 3]), [array, array], stat=stat, &
            errmsg=why)
        call expect_refusal(stat, POLYTILE_INVALID, why, '2 arrays')
        call polytile_run(device_of('host(memory=16B)'), kernel, polytile_extents([4, 3]), [array], stat=stat, &
            errmsg=why)
        call expect(stat == POLYTILE_OK .or. stat == POLYTILE_NO_FIT, 'a limit is kept: ' // why)
    end subroutine

    !> Programs of their own, which end with a sentence.
    subroutine run_what_is_named()
        character(30) :: name
        call get_command_argument(1, name)
        if (name == 'end') call end_by_a_failure()
        if (name == 'wrong-declaration') call declare_what_is_wrong()
    end subroutine

    !> A row beside the declared one is read. The environment asks for a check.
    subroutine declare_what_is_wrong()
        real(real64), target :: a(4, 3), b(4, 3)
        b = 0
        a = numbered(4, 3)
        call run_over_elements('k[i, j]: in A[i, j]; out B[i, j]', 'B(i, j) = A(i < 4 ? i + 1 : i, j);', a, b)
        print '(a)', 'this is not reached'
    end subroutine

    subroutine end_by_a_failure()
        real(real64), target :: none(0)
        type(polytile_array) :: array
        call polytile_array_wrap(ctx, 'nothing', none, array)
        print '(a)', 'this is not reached'
    end subroutine
end program
